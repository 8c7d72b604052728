"""Compares what the method PHDF5 of the original and of Forebay wrote."""

import h5py
import numpy


def _values(path):
    """Values of the datasets of a file that have any. What the original adds to an array begins with "_"; it leaves
    local arrays without values, and of strings the first letter."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and not name.startswith("_") and item.size and item.dtype.kind != "S":
            found[name] = item[()]

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def differences(original, forebay):
    """Sentences about what the original has and Forebay has not. Of a scalar the original keeps the value of one rank,
    Forebay those of all ranks if they differ."""
    want, got, errors = _values(original), _values(forebay), []
    if not want:
        errors.append(f"{original} has no values")
    for name, value in want.items():
        if name not in got:
            errors.append(f"there is no dataset {name}")
        elif numpy.ndim(value) and not numpy.array_equal(value, got[name]):
            errors.append(f"dataset {name}: expected {value}, found {got[name]}")
        elif not numpy.ndim(value) and value not in numpy.atleast_1d(got[name]):
            errors.append(f"dataset {name}: expected {value}, found {got[name]}")
    return errors
