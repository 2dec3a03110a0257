"""Arrays that users name: numbers, or an error that says what the file is not."""

import pickle

import numpy as np
import pytest

from tensim.sim.errors import UsageError
from tensim.sim.input_files import read_array, read_arrays


def test_arrays_are_read_as_they_were_written(tmp_path):
    values = np.arange(6, dtype=np.uint16).reshape(2, 3)
    np.save(tmp_path / "a.npy", values)
    np.savez(tmp_path / "b.npz", values=values, more=values + 1)
    assert (read_array(tmp_path / "a.npy") == values).all()
    assert [found.tolist() for found in read_arrays(tmp_path / "b.npz", "more", "values")] == [
        (values + 1).tolist(),
        values.tolist(),
    ]


@pytest.fixture
def folder(tmp_path):
    """Files that hold no array of numbers."""
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_bytes(b"hello")
    (tmp_path / "pickled").write_bytes(pickle.dumps([1, 2]))
    (tmp_path / "archive").write_bytes(b"PK\x03\x04 cut off")
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "other.npz", else_=np.ones(2))
    np.savez(tmp_path / "objects.npz", values=np.array([{}], dtype=object))
    np.save(tmp_path / "one.npy", np.ones(2))
    return tmp_path


@pytest.mark.parametrize("name", ["missing", "empty", "text", "pickled", "archive", "objects.npy", "other.npz", "."])
def test_what_is_no_array_is_refused_without_advice_to_trust_it(folder, name):
    with pytest.raises(UsageError, match="cannot read") as caught:
        read_array(folder / name)
    assert "pickle" not in str(caught.value).replace("pickled", "")


@pytest.mark.parametrize(
    "name", ["missing", "empty", "text", "pickled", "archive", "other.npz", "objects.npz", "one.npy"]
)
def test_what_lacks_the_arrays_is_refused(folder, name):
    with pytest.raises(UsageError, match="cannot read"):
        read_arrays(folder / name, "values")
