"""NumPy's types for those of Forebay, and selections as NumPy has them."""

import operator

import numpy as np

from ._errors import InvalidArgument


def dtype_of(name, size):
    """The dtype of elements that Forebay calls `name`, of `size` bytes: bytes without a meaning are void."""
    if name == "string":
        return np.dtype("S1")
    if size == 16 and name.replace(" ", "_") in ("long_double", "longdouble", "float128"):
        return np.dtype(np.longdouble)
    try:
        dtype = np.dtype(name)
    except TypeError:
        dtype = None
    return dtype if dtype is not None and dtype.itemsize == size else np.dtype(f"V{size}")


def fill_of(dtype):
    """What elements hold that no rank has written: NaN where the type has one, else 0."""
    return np.nan if dtype.kind in "fc" else 0


def expand(key, dimensions):
    """`key` of array[key] as one int or slice for each dimension."""
    key = key if isinstance(key, tuple) else (key,)
    if sum(1 for one in key if one is Ellipsis) > 1:
        raise InvalidArgument("an index has one '...' at most", "invalid_argument")
    if Ellipsis not in [one for one in key if one is Ellipsis]:
        key = (*key, Ellipsis)
    at = next(i for i, one in enumerate(key) if one is Ellipsis)
    missing = dimensions - (len(key) - 1)
    if missing < 0:
        raise IndexError(f"{len(key) - 1} indices for an array of {dimensions} dimensions")
    return (*key[:at], *[slice(None)] * missing, *key[at + 1 :])


class Selection:
    """A box of an array of `shape` that basic indexing means: begin, count, stride, and what is done to it afterwards."""

    def __init__(self, key, shape):
        self.begin, self.count, self.stride = [], [], []
        self._after = []
        for one, length in zip(expand(key, len(shape)), shape):
            self._add(one, length)
        self.shape = tuple(n for n, after in zip(self.count, self._after) if after != 0)

    def _add(self, one, length):
        if isinstance(one, slice):
            begin, end, step = one.indices(length)
            count = len(range(begin, end, step))
            if step < 0 and count > 0:
                begin += (count - 1) * step
            self._put(begin if count else 0, count, abs(step), slice(None, None, -1) if step < 0 else slice(None))
            return
        try:
            index = operator.index(one)
        except TypeError:
            raise IndexError(
                f"an array is indexed by integers, slices and '...', not by {type(one).__name__}; single elements: points()"
            ) from None
        if isinstance(one, (bool, np.bool_)):
            raise IndexError("an array is not indexed by truth values; read it, and index what comes")
        if not -length <= index < length:
            raise IndexError(f"index {index} is outside of a dimension of {length}")
        self._put(index % length, 1, 1, 0)

    def _put(self, begin, count, stride, after):
        self.begin.append(begin)
        self.count.append(count)
        self.stride.append(stride)
        self._after.append(after)

    def strides(self):
        """As the extension module takes them: none where all are 1."""
        return self.stride if any(one != 1 for one in self.stride) else []

    def arrange(self, values):
        """The array that NumPy's indexing gives, of the box's values: without dimensions that an index has taken away."""
        return values[tuple(self._after)]

    def arrange_all(self, values):
        """The same behind a first dimension that stays whole."""
        return values[(slice(None), *self._after)]
