"""Reads what ADIOS 1.9 to 1.13 wrote (BP version 3): what the original library's output says, for comparison.

It is written for whole files of tests, is read into memory, and stops at anything it does not know.
"""

import bz2
import os
import struct
import zlib

import numpy

from model import NUMPY, TYPES, Block, Output

SUBFILES = 0x100
JOINED = 2**64 - 2


class Cursor:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def get(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def take(self, count):
        self.at += count
        if self.at > len(self.data):
            raise ValueError("the file ends too early")
        return self.data[self.at - count : self.at]

    def text(self):
        return self.take(self.get("H")).decode("latin-1")


def _element_bytes(kind):
    return numpy.dtype(NUMPY[TYPES[kind]]).itemsize


def _dimensions(cursor):
    count, _ = cursor.get("BH")
    return [cursor.get("QQQ") for _ in range(count)]


def _statistics(cursor, bitmap, kind):
    """(min, max) of the values, or None. Complex numbers have three lists, of which none is kept."""
    wide = kind in (10, 11)
    size = {10: 8, 11: 16}.get(kind) or _element_bytes(kind)
    found = {}
    for _ in range(3 if wide else 1):
        for bit, length in enumerate((size, size, 4, 16 if kind == 11 else 8, 16 if kind == 11 else 8, None, 1)):
            if not bitmap & (1 << bit):
                continue
            if bit == 5:
                breaks, _, _ = cursor.get("Idd")
                cursor.take(4 * (breaks + 1) + 8 * breaks)
            else:
                found[bit] = cursor.take(length)
    if wide or 0 not in found or 1 not in found or found.get(6, b"\1") != b"\1":
        return None
    return tuple(numpy.frombuffer(found[bit], NUMPY[TYPES[kind]])[0] for bit in (0, 1))


def _characteristics(cursor, kind):
    """One set of characteristics as a dictionary."""
    count, length = cursor.get("BI")
    end = cursor.at + length
    found = {"dimensions": [], "bitmap": 0, "type": kind}
    for _ in range(count):
        what = cursor.get("B")
        if what == 0:
            found["value"] = _value(cursor, kind, found["dimensions"])
        elif what == 3:
            found["offset"] = cursor.get("Q")
        elif what == 4:
            found["dimensions"] = _dimensions(cursor)
        elif what == 5:
            found["reference"] = cursor.get("I")
        elif what == 6:
            found["payload"] = cursor.get("Q")
        elif what == 7:
            found["file"] = cursor.get("I")
        elif what == 8:
            found["time"] = cursor.get("I")
        elif what == 9:
            found["bitmap"] = cursor.get("I")
        elif what == 10:
            found["bounds"] = _statistics(cursor, found["bitmap"], found["type"]) if found["bitmap"] else None
        elif what == 11:
            found["stored"] = found["dimensions"]
            found["transform"] = cursor.take(cursor.get("B")).decode()
            found["type"] = cursor.get("B")
            found["dimensions"] = _dimensions(cursor)
            found["metadata"] = cursor.take(cursor.get("H"))
        else:
            raise ValueError(f"unknown characteristic {what}")
    if cursor.at != end:
        raise ValueError("a set of characteristics has another length than it says")
    return found


def _value(cursor, kind, dimensions):
    count = dimensions[0][0] if dimensions else 1
    if kind == 9:
        return cursor.take(cursor.get("H"))
    if kind == 12:
        return [cursor.take(cursor.get("H")) for _ in range(count)]
    return cursor.take(count * _element_bytes(kind))


def _place(dimensions, fortran, has_time):
    """(shape, global shape, offsets) in C order without time."""
    local, whole, offsets = (list(column) for column in zip(*dimensions))
    # A dimension that is time has local size 1 and no place in the other two lists, which are then shorter. It is the
    # slowest one; in C programs that have it last, the original complains and takes it for time all the same.
    at = -1 if fortran or (local[0] != 1 and any(whole)) else 0
    if has_time and whole[-1] == 0 and local[at] == 1:
        local.pop(at), whole.pop(), offsets.pop()
    if fortran:
        for column in (local, whole, offsets):
            column.reverse()
    if not any(whole):
        return tuple(local), (), ()
    return tuple(local), tuple(whole), tuple(offsets)


def _bytes(data, found):
    """The values of a block as they were before they were transformed."""
    size = _element_bytes(found["type"])
    for local, _, _ in found["dimensions"]:
        size *= local
    transform = found.get("transform", "identity")
    stored = size if "transform" not in found else found["stored"][0][0]
    raw = data[found["payload"] : found["payload"] + stored]
    if transform in ("zlib", "bzip2") and found["metadata"][8]:
        return zlib.decompress(raw) if transform == "zlib" else bz2.decompress(raw)
    if transform not in ("identity", "zlib", "bzip2"):
        raise ValueError(f"the transform {transform} cannot be undone here")
    return raw


def _groups(data, at):
    """(offset, rank, time, Fortran order, whether time has a name) of all process groups of a file."""
    cursor = Cursor(data, at)
    count, _ = cursor.get("QQ")
    groups = []
    for _ in range(count):
        cursor.get("H")
        cursor.text()
        fortran, rank = cursor.get("B") == ord("y"), cursor.get("I")
        time_name = cursor.text()
        time, offset = cursor.get("IQ")
        groups.append((offset, rank, time, fortran, time_name != ""))
    return groups


def _entries(data, at):
    """(id, group, full name, type, sets of characteristics) of an index of variables or attributes."""
    cursor = Cursor(data, at)
    count, _ = cursor.get("IQ")
    for _ in range(count):
        cursor.get("I")
        number, group, name, path = cursor.get("I"), cursor.text(), cursor.text(), cursor.text()
        kind, sets = cursor.get("BQ")
        full = name if not path else path.rstrip("/") + "/" + name
        yield number, group, full, kind, [_characteristics(cursor, kind) for _ in range(sets)]


def _attribute(kind, found, variables, group):
    if "reference" in found:
        return ("reference", [variables[group, found["reference"]]])
    value = found["value"]
    if kind == 9:
        return (TYPES[kind], [value.decode("latin-1").rstrip("\0")])
    if kind == 12:
        return (TYPES[kind], [text.decode("latin-1").rstrip("\0") for text in value])
    return (TYPES[kind], numpy.frombuffer(value, NUMPY[TYPES[kind]]).tolist())


def _read_one(path):
    """([(time, rank, order in the file, block)], attributes, whether this file has no data of its own)"""
    with open(path, "rb") as file:
        data = file.read()
    groups_at, variables_at, attributes_at = struct.unpack_from("<QQQ", data, len(data) - 28)
    version = struct.unpack_from(">I", data, len(data) - 4)[0]
    if version & 0xFF != 3 or not groups_at <= variables_at < attributes_at < len(data):
        raise ValueError(f"{path} is not a BP file of version 3")
    if version & SUBFILES:
        return [], {}, True
    groups = sorted(_groups(data, groups_at))
    starts = numpy.array([group[0] for group in groups])
    found, names = [], {}
    for number, group, name, kind, sets in _entries(data, variables_at):
        names[group, number] = name
        if name.startswith("/__adios__"):
            continue
        for each in sets:
            _, rank, time, fortran, has_time = groups[int(numpy.searchsorted(starts, each["offset"], "right")) - 1]
            block = Block(name, TYPES[each["type"]], rank, bounds=each.get("bounds"))
            if each["dimensions"]:
                block.shape, block.global_shape, block.offsets = _place(each["dimensions"], fortran, has_time)
                block.data = _bytes(data, each)
            else:
                block.data = each["value"]
            found.append((time, rank, each["offset"], block))
    attributes = {}
    for _, group, name, kind, sets in _entries(data, attributes_at):
        if not name.startswith("/__adios__"):
            attributes.setdefault(name, _attribute(kind, sets[0], names, group))
    return found, attributes, False


def _join(blocks):
    """Places of blocks of joined arrays: one after another in order of ranks."""
    sums = {}
    for block in (b for b in blocks if JOINED in b.global_shape):
        axis = block.global_shape.index(JOINED)
        start = sums.get(block.name, 0)
        sums[block.name] = start + block.shape[axis]
        block.offsets = (*block.offsets[:axis], start, *block.offsets[axis + 1 :])
    for block in (b for b in blocks if JOINED in b.global_shape):
        block.global_shape = tuple(sums[block.name] if n == JOINED else n for n in block.global_shape)


def read(path):
    """All steps of a file, with those of its subfiles."""
    found, attributes, elsewhere = _read_one(path)
    if elsewhere:
        folder = path + ".dir"
        for name in sorted(os.listdir(folder), key=lambda n: int(n.rsplit(".", 1)[1])):
            more, others, _ = _read_one(os.path.join(folder, name))
            found += more
            attributes = {**others, **attributes}
    found.sort(key=lambda entry: entry[:3])
    steps = [[b for time, _, _, b in found if time == t] for t in sorted({entry[0] for entry in found})]
    for blocks in steps:
        _join(blocks)
    return Output(steps, attributes)
