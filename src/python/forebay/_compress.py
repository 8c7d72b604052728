"""Arrays by themselves: compressed as the frames of sets are, for files that are not Forebay's."""

from __future__ import annotations

import numpy as np

from . import _forebay
from ._errors import InvalidArgument

_MOST_BYTES = 65535  # of an element


def compress(array, profile: str = "balanced") -> bytes:
    """The array, its dtype and its shape in fewer bytes, from which decompress() makes the same array again.

    array: anything that NumPy makes an array of, whose elements are no Python objects and have at most 65,535 bytes, of
    at most 1 GiB and 16 dimensions; one that is not C-contiguous is copied first. Integers and floating-point numbers
    of 1, 2, 4 or 8 bytes, in either byte order, keep their dtype. Elements of other dtypes (bfloat16, booleans, complex numbers,
    records) are kept as bytes, and decompress() has to be given the dtype. profile: `fast`, `balanced` or `max`, or any
    other that `forebay pack --profile` takes. The same array always gives the same bytes (docs/codecs.md, "An array by
    itself"). Thread-safe; other threads of Python run meanwhile.

    Raises InvalidArgument for elements that are objects, empty or too large, and for a profile that does not exist,
    with the nearest name; Limit for an array that is too large.
    """
    array = np.asarray(array)
    kind, size = array.dtype.kind, array.dtype.itemsize
    if array.dtype.hasobject or not 1 <= size <= _MOST_BYTES:
        raise InvalidArgument(
            f"an array of {array.dtype} cannot be compressed: its elements are no bytes, or too many",
            hint="make it an array of numbers, or of records of them",
        )
    is_numbers = kind in "iuf" and size in (1, 2, 4, 8)
    elements = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return _forebay.encode_array(
        profile, array.dtype.str.lstrip("<|=") if is_numbers else f"x{size}", list(array.shape), elements
    )


def decompress(data, dtype=None) -> np.ndarray:
    """The array that compress() was given: a new one, with its dtype and shape.

    data: bytes, or any other object with contiguous memory. It may come from anywhere: what does not decode to exactly
    the elements that were compressed raises Damaged, and takes no more memory than the array that it says it is, 1 GiB
    at most. dtype: of the elements, where compress() could not keep it; without one such elements are `V2`, `V8` and
    so on. Raises InvalidArgument for a dtype of another size, or with objects; Unsupported for what a newer Forebay has
    compressed. Thread-safe; other threads of Python run meanwhile.
    """
    type_name, shape = _forebay.describe_array(data)
    own = np.dtype(type_name.replace("x", "V"))
    given = own if dtype is None else np.dtype(dtype)
    if given.itemsize != own.itemsize or given.hasobject:
        raise InvalidArgument(f"the elements have {own.itemsize} bytes, those of {given} have {given.itemsize}")
    array = np.empty(shape, given)
    _forebay.decode_array(data, array.reshape(-1).view(np.uint8))
    return array
