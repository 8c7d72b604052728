"""docs/format.md, "Cubes"."""

import math
import struct

import numpy as np

from .container import require
from .flat import Table

CUBES_RECORD = 7


def sides(shape):
    """Of the cubes that an array is cut into."""
    first, elements = len(shape), 1
    while first > 0 and (len(shape) - first < 3 or elements < 4096):
        first -= 1
        elements *= shape[first]
    result, b = [1] * len(shape), 4096
    cut = sorted(range(first, len(shape)), key=lambda d: (shape[d], -d))
    for left, d in zip(range(len(cut), 0, -1), cut):
        r = 1
        while (r + 1) ** left <= b:
            r += 1
        result[d] = min(shape[d], r)
        b //= result[d]
    return tuple(result)


def can_have(variable):
    elements = sum(length for _, length in variable.extents) // variable.type.size
    return (variable.type.kind != 0 and not variable.filtered and len(variable.extents) == 1 and elements > 4096
            and math.prod(variable.shape) == elements)  # fmt: skip


def from_ordered(numbers):
    numbers = numbers.astype(np.uint32)
    half = np.uint32(1 << 31)
    return np.where(numbers >= half, numbers - half, np.uint32(0xFFFFFFFF) - numbers).astype(np.uint32).view(np.float32)


def read(container):
    """Of each variable that has cubes, by its place in the catalogue: minima, maxima and whether there are NaNs, as arrays."""
    contents = container.contents
    offset, size, digest = (contents.scalar(field, "<Q") for field in (26, 27, 28))
    if offset == 0:
        return {}
    require(struct.unpack_from("<Q", container.data, offset + 48)[0] == digest, "the cubes that are meant")
    _, payload = container.record(offset, CUBES_RECORD)
    require(56 + len(payload) == size, "the size of the record of cubes")
    table, found = Table(payload), {}
    at = table.place(1)
    at += table.number("<I", at)
    keys = table.delta_column(0).tolist()
    require(table.number("<I", at) == len(keys), "a table for each key")
    variables = [variable for file in container.files for variable in file.variables]
    for i, key in enumerate(keys):
        place = at + 4 + 4 * i
        group = Table(payload, place + table.number("<I", place))
        minima, spans, nans = group.delta_column(0), group.column(1), group.delta_column(2).astype(int)
        low, high = from_ordered(minima), from_ordered((minima + spans) & np.uint64(0xFFFFFFFF))
        with_nans = np.zeros(len(minima), bool)
        with_nans[nans] = True
        begin = 0
        for number, variable in enumerate(variables):
            if variable.key != key or not can_have(variable):
                continue
            grid = tuple(-(-n // side) for n, side in zip(variable.shape, sides(variable.shape)))
            part = slice(begin, begin + math.prod(grid))
            begin = part.stop
            found[number] = tuple(column[part].reshape(grid) for column in (low, high, with_nans))
        require(begin == len(minima), "as many cubes as the variables have")
    return found
