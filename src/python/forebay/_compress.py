"""Arrays by themselves: compressed as the frames of sets are, for files that are not Forebay's."""

from __future__ import annotations

import numpy as np

from . import _forebay
from ._errors import InvalidArgument


def compress(array, profile: str = "balanced") -> bytes:
    """The array, its dtype and its shape in fewer bytes, from which decompress() makes the same array again.

    array: anything that NumPy makes an array of integers or floating-point numbers of 1, 2, 4 or 8 bytes of, in either
    byte order, of at most 1 GiB and 16 dimensions; one that is not C-contiguous is copied first. profile: `fast`,
    `balanced` or `max`, or any other that `forebay pack --profile` takes. The same array always gives the same bytes
    (docs/codecs.md, "An array by itself"). Thread-safe; other threads of Python run meanwhile.

    Raises InvalidArgument for another dtype, and for a profile that does not exist, with the nearest name; Limit for
    an array that is too large.
    """
    array = np.asarray(array)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize not in (1, 2, 4, 8):
        raise InvalidArgument(
            f"an array of {array.dtype} cannot be compressed: its elements are no integers or floating-point numbers",
            hint="view it as a dtype that is, or as np.uint8",
        )
    array = np.ascontiguousarray(array).reshape(array.shape)
    return _forebay.encode_array(profile, array.dtype.str.lstrip("<|="), list(array.shape), array)


def decompress(data) -> np.ndarray:
    """The array that compress() was given: a new one, with its dtype and shape.

    data: bytes, or any other object with contiguous memory. It may come from anywhere: what does not decode to exactly
    the elements that were compressed raises Damaged, and takes no more memory than the array that it says it is, 1 GiB
    at most. Raises Unsupported for what a newer Forebay has compressed. Thread-safe; other threads of Python run
    meanwhile.
    """
    type_name, shape = _forebay.describe_array(data)
    array = np.empty(shape, np.dtype(type_name))
    _forebay.decode_array(data, array)
    return array
