#!/usr/bin/env -S /usr/bin/python3 -B
"""Makes a large checkpoint set of a small one: usage: large_set.py SOURCE TARGET COPIES

Every HDF5 file of SOURCE is written COPIES times, as the file of another rank, with all floating-point data of a copy
multiplied by a factor of its own. So the copies are smooth where the original is, have the original's magnitudes and as
much noise in their low bits, but no two hold the same numbers, and the codecs find no duplicates that a real set of that
size would not have. Only the bytes of contiguous datasets change; everything else is as in the original.
"""
import re
import sys
from pathlib import Path

import h5py
import numpy as np

FACTOR_STEP = 1.0 / 1024


def float_extents(path):
    """(offset, count, dtype) of every contiguous floating-point dataset."""
    found = []

    def visit(_, item):
        if isinstance(item, h5py.Dataset) and item.dtype.kind == "f" and item.chunks is None:
            offset = item.id.get_offset()
            if offset is not None and item.size:
                found.append((offset, item.size, item.dtype))

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def scaled(original, extents, factor):
    data = bytearray(original)
    for offset, count, dtype in extents:
        values = np.frombuffer(data, dtype, count, offset)
        with np.errstate(over="ignore"):
            values[:] = (values * dtype.type(factor)).astype(dtype)
    return data


def make(source, target, copies):
    target.mkdir(parents=True)
    files = sorted(path for path in source.iterdir() if re.search(r"\.cpu\d+$", path.name) or path.suffix == ".h5")
    if not files:
        raise SystemExit(f"{source} has no HDF5 files of ranks")
    for number, path in enumerate(files):
        original, extents = path.read_bytes(), float_extents(path)
        for copy in range(copies):
            name = f"{source.name}.cpu{copy * len(files) + number:05d}"
            (target / name).write_bytes(scaled(original, extents, 1 + copy * FACTOR_STEP))


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
