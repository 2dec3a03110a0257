"""Arrays out of files that users name: whatever stands in one, it is an array of numbers or a clear error."""

from zipfile import BadZipFile

from tensim.sim.errors import UsageError


def read_array(path):
    """The array of a file in numpy's form (.npy).  Raises UsageError; objects, which only code could read, are refused."""
    import numpy as np

    try:
        found = np.load(path, allow_pickle=False)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except (EOFError, ValueError, BadZipFile) as error:
        raise UsageError(f"cannot read {path}: it holds no array of numbers in numpy's form (.npy)") from error
    if not isinstance(found, np.ndarray):
        raise UsageError(f"cannot read {path}: it holds several arrays (.npz)")
    return found


def read_arrays(path, *names):
    """The arrays with these names of a file in numpy's form for several (.npz).  Raises UsageError."""
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as file:
            return tuple(file[name] for name in names)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except (EOFError, ValueError, KeyError, TypeError, AttributeError, BadZipFile) as error:
        raise UsageError(f"cannot read {path}: it does not hold {', '.join(names)} in numpy's form (.npz)") from error
