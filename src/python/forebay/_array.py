"""Arrays of a step, and original files of its set: values and bytes that are read when they are asked for."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

from . import _forebay
from ._errors import InvalidArgument
from ._types import Selection, dtype_of, fill_of


class Array:
    """An array of a step, which is read when it is indexed as NumPy's are: array[::2, 10:20, -5:]."""

    def __init__(self, step, number, facts):
        self.step = step
        self._number = number
        self.name, self._type, size, self.form, shape, self._blocks, self.level, self._values = facts
        self.dtype = dtype_of(self._type, size)
        self.shape = tuple(shape)

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory."""
        return self.size * self.dtype.itemsize

    @property
    def dims(self) -> tuple[str, ...]:
        """What the file calls the dimensions, or "dim_0", ..."""
        names = self.step._step.dimension_names(self._number)
        return tuple((names[i] if i < len(names) else "") or f"dim_{i}" for i in range(self.ndim))

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of this array alone, by their last names: units, long_name, ..."""
        prefixes = (self.name.rstrip("/") + "/", "/" + self.name.strip("/") + "/")
        return {
            key[len(prefix) :]: value
            for key, value in self.step.attrs.items()
            for prefix in prefixes
            if key.startswith(prefix) and "/" not in key[len(prefix) :]
        }

    @property
    def units(self) -> str:
        """Its attribute `units`, or ""."""
        return str(self.attrs.get("units", ""))

    @property
    def blocks(self) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
        """(rank, begin, count) of each block that was written, in the order of writing. Reads indices alone."""
        return self.step._step.blocks(self._number)

    @property
    def statistics(self) -> dict[str, float] | None:
        """What indices know of the values: a dictionary (count, min, max, mean, std, nans, ...), or None."""
        if self._values is None:
            return None
        count, low, high, total, squares, nans, infinities, holes = self._values
        mean = total / count if count else math.nan
        deviation = math.sqrt(max(squares / count - mean * mean, 0)) if count else math.nan
        return {"count": count, "min": low, "max": high, "mean": mean, "std": deviation, "nans": nans,
                "infinities": infinities, "holes": holes}  # fmt: skip

    def _request(self, selection, out):
        return (self.step._step, self._number, "box", selection.begin, selection.count, selection.strides(), out)

    def _box_shape(self):
        if self.form == "local" and self._blocks > 1:
            raise InvalidArgument(
                f"'{self.name}' is local: each of its {self._blocks} blocks is an array of its own; use local()"
            )
        return self.shape

    def __getitem__(self, key: Any) -> Any:
        """Reads what basic indexing selects. Elements that no rank has written are NaN, or 0 of integers.

        Raises:
            IndexError: as NumPy; InvalidArgument: the array is local; Damaged, Gone, Limit, Failed.
        """
        selection = Selection(key, self._box_shape())
        out = np.full(selection.count, fill_of(self.dtype), self.dtype)
        if out.size or not self.shape:
            raise_first(_forebay.read([self._request(selection, out)]))
        values = selection.arrange(out)
        if self.form == "scalar" and self.dtype == np.dtype("S1"):
            return _text(values.tobytes())
        return values if values.ndim else values[()]

    def read_into(self, out: np.ndarray, key: Any = Ellipsis) -> None:
        """Reads array[key] into `out`, which may be a part of a larger array. Elements that no rank has written stay.

        Raises:
            InvalidArgument: `out` has another shape or dtype. Otherwise as array[key].
        """
        selection = Selection(key, self._box_shape())
        if not isinstance(out, np.ndarray) or out.shape != selection.shape or out.dtype != self.dtype:
            raise InvalidArgument(f"an array of shape {selection.shape} and type {self.dtype} is needed")
        direct = out.flags.c_contiguous and all(after == slice(None) or after == 0 for after in selection._after)
        dense = out.reshape(selection.count) if direct else np.empty(selection.count, self.dtype)
        if not direct:
            dense[...] = np.nan if self.dtype.kind in "fc" else 0
            selection.arrange(dense)[...] = out
        if dense.size:
            raise_first(_forebay.read([self._request(selection, dense)]))
        if not direct:
            out[...] = selection.arrange(dense)

    def points(self, indices: Any) -> np.ndarray:
        """The elements at `indices`, a row of integers for each.

        Raises:
            InvalidArgument: a row has not one index for each dimension, or lies outside.
        """
        rows = np.asarray(indices)
        if rows.ndim != 2 or rows.shape[1] != self.ndim or rows.dtype.kind not in "iu":
            raise InvalidArgument(f"rows of {self.ndim} integers are needed")
        rows = np.where(rows < 0, rows + np.array(self.shape), rows) if rows.size else rows
        if rows.size and (rows < 0).any():
            raise InvalidArgument("an index is outside of the array")
        out = np.full(len(rows), fill_of(self.dtype), self.dtype)
        dense = np.ascontiguousarray(rows, np.uint64)
        if len(rows):
            raise_first(_forebay.read([(self.step._step, self._number, "points", self.ndim, dense, out)]))
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("values of a store are read, and cannot be had without a copy")
        values = np.asarray(self[...])
        return values if dtype is None else values.astype(dtype, copy=False)

    def __len__(self):
        if not self.shape:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def __reduce__(self):
        return _reopen_array, (self.step, self.name)

    def __repr__(self):
        return f"<forebay.Array {self.name!r}: {self.dtype}, {self.form}, shape {self.shape}>"


def _reopen_array(step, name):
    return step[name]


class StoredFile(io.RawIOBase):
    """The bytes of an original file, which are decoded when they are read."""

    def __init__(self, files, number, size, name):
        self._files, self._number, self._size, self.name, self._at = files, number, size, name, 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        return self._at

    def seek(self, offset, whence=io.SEEK_SET):
        at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if at < 0:
            raise ValueError("a place before the file's first byte")
        self._at = at
        return at

    def readinto(self, buffer):
        count = self._files.read_into(self._number, self._at, buffer)
        self._at += count
        return count


def attribute_value(kind, count, value):
    if kind in ("string", "strings"):
        texts = [_text(one) for one in value.split(b"\0")]
        return texts[0] if count <= 1 else texts[:count]
    dtype = dtype_of(kind, len(value) // count if count else 1)
    values = np.frombuffer(value, dtype)
    return values[0] if count == 1 else values


def _text(value):
    return bytes(value).rstrip(b"\0").decode("utf-8", "surrogateescape")


def raise_first(outcomes):
    for _, error in outcomes:
        if error is not None:
            raise error
