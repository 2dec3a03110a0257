"""The tables of this room that are files: fields of the configuration, and instructions of each chip."""

from importlib import resources

import yaml

# the C one is five times faster, where it was built
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_table(name):
    """What a file of this folder holds."""
    return yaml.load((resources.files(__package__) / name).read_text(), _LOADER)
