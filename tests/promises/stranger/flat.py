"""FlatBuffers as far as index.fbs needs them, and the columns and texts of docs/format.md, "Columns"."""

import struct

import numpy as np

from .libs import unzstd


class Table:
    def __init__(self, data, position=None):
        self.data = data
        self.position = self.number("<I", 0) if position is None else position
        self.vtable = self.position - self.number("<i", self.position)

    def number(self, form, at):
        return struct.unpack_from(form, self.data, at)[0]

    def place(self, field):
        """Where the value of a field lies, or 0 if it is absent. Fields have the numbers of their order in the schema."""
        if 4 + 2 * field >= self.number("<H", self.vtable):
            return 0
        offset = self.number("<H", self.vtable + 4 + 2 * field)
        return self.position + offset if offset else 0

    def scalar(self, field, form):
        at = self.place(field)
        return self.number(form, at) if at else 0

    def table(self, field):
        at = self.place(field)
        return Table(self.data, at + self.number("<I", at)) if at else None

    def vector(self, field, form, size):
        at = self.place(field)
        if not at:
            return np.zeros(0, form)
        at += self.number("<I", at)
        return np.frombuffer(self.data, form, self.number("<I", at), at + 4)

    def column(self, field):
        table = self.table(field)
        if table is None:
            return np.zeros(0, np.uint64)
        count = table.scalar(0, "<Q")
        planes, values, at = table.vector(2, "u1", 1).tobytes(), np.zeros(count, np.uint64), 0
        for k, size in enumerate(table.vector(1, "<u4", 4).tolist()):
            if size == 0:
                continue
            stored = planes[at : at + size]
            plane = stored if size == count else unzstd(stored)
            values |= np.frombuffer(plane, np.uint8, count).astype(np.uint64) << np.uint64(8 * k)
            at += size
        return values

    def delta_column(self, field):
        return np.cumsum(unzigzag(self.column(field)), dtype=np.uint64)

    def texts(self, field):
        table = self.table(field)
        if table is None:
            return []
        rests, texts, at = table.column(2).astype(np.uint8).tobytes(), [], 0
        for shared, length in zip(table.column(0).tolist(), table.column(1).tolist(), strict=True):
            texts.append((texts[-1][:shared] if shared else b"") + rests[at : at + length])
            at += length
        return texts


def unzigzag(values):
    """Modulo the range of the elements' type, which is unsigned."""
    one = values.dtype.type(1)
    with np.errstate(over="ignore"):
        return (values >> one) ^ (values.dtype.type(0) - (values & one))


def signed(values):
    return values.astype(np.int64)
