"""docs/format.md, "Files that grow": the last complete step, the lists, and the values of process groups."""

import struct
from dataclasses import dataclass, field

import numpy as np

from . import codecs
from .container import Container, record, require
from .flat import Table, signed, unzigzag
from .libs import hash64
from .plan import frames_of, shape_of

TRAILER = bytes.fromhex("8f46625461696c0a")
NUMBERS = {0: "<i1", 1: "<i2", 2: "<i4", 4: "<i8", 5: "<f4", 6: "<f8", 7: "V16", 9: "S1", 10: "<c8", 11: "<c16", 12: "S1",
           50: "<u1", 51: "<u2", 52: "<u4", 54: "<u8"}  # fmt: skip


@dataclass
class Listed:
    """What the lists say of a process group."""

    rank: int
    step: int
    time_index: int
    group: bytes
    file: bytes
    container: int
    head: int
    size: int
    index_size: int
    index_hash: int
    writes: list  # (name, type, is array, shape, global shape, offsets); the shapes None if they are not listed


@dataclass
class File:
    steps: int = 0
    groups: list = field(default_factory=list)
    summaries: dict = field(default_factory=dict)  # (step, name): (blocks, count, minimum, maximum)
    attributes: dict = field(default_factory=dict)  # name: value or the variable that it refers to


def trailer_of(data):
    """The last trailer that is one, looked for from the end."""
    at = len(data) - 64
    while at >= 0:
        tail = data[at : at + 64]
        if len(tail) == 64 and tail[:8] == TRAILER:
            _, container, offset, size, digest, total, version, features, own = struct.unpack("<8sQQQQQIIQ", tail)
            if own == hash64(tail[:56]) and total == at + 64 and offset + size == at and features == 2 and version == 1:
                return container, offset, size, digest, at
        at = data.rfind(TRAILER, 0, at + 7)
    raise ValueError("no complete step")


def copies_lead_to(data, end):
    """Whether the later one of the copies behind the first part names the trailer at `end`."""
    at = 16
    for _ in ("head", "index"):
        at += 56 + sum(struct.unpack_from("<IQ", data, at + 20))
    totals = [struct.unpack_from("<Q", data, at + slot + 40)[0] for slot in (0, 64) if data[at + slot : at + slot + 8] == TRAILER]
    return max(totals, default=0) == end + 64


def read(data):
    container, offset, size, digest, end = trailer_of(data)
    require(struct.unpack_from("<Q", data, 16 + 8)[0] == container, "the first part")
    require(copies_lead_to(data, end), "the copies of the trailers")
    tables, expected = [], None
    while size:
        require(hash64(data[offset : offset + 48]) == digest, "the list that is meant")
        meta, payload = record(data, container, offset, 6)
        require(56 + len(meta) + len(payload) == size, "the size of a list")
        number, stands_for, steps, _, before, size, digest, zero = struct.unpack("<8Q", meta)
        require(expected in (None, number) and 1 <= stands_for <= number and zero == 0, "the number of a list")
        require((before < offset and size > 0) if stands_for < number else before == size == digest == 0, "the list before")
        tables.insert(0, (Table(payload), steps))
        expected, offset = number - stands_for, before
    file = File(tables[-1][1])
    for table, _ in tables:
        read_list(table, file)
    return file


def read_list(t, file):
    files = list(zip(t.texts(0), t.column(1).tolist(), strict=True))
    group_names = t.texts(2)
    variables = list(zip(t.texts(5), t.column(7).tolist(), t.column(8).tolist(), strict=True))
    patterns = patterns_of(t)
    parts = [Listed(rank, step, time, group_names[patterns[p][0]], *files[f], 0, size, index_size, digest, [])
             for p, rank, step, time, f, size, index_size, digest in zip(
                 *(c.tolist() for c in (t.column(17), t.delta_column(18), t.delta_column(19), t.delta_column(20),
                                        t.delta_column(21), t.delta_column(23), t.delta_column(24), t.column(25))),
                 strict=True)]  # fmt: skip
    end = 0
    for part, gap in zip(parts, signed(unzigzag(t.column(22))).tolist(), strict=True):
        part.head = end + gap
        end = part.head + part.size
    place(parts, t.column(17).tolist(), patterns, variables, iter(t.delta_column(26).tolist()))
    file.groups += parts
    floats = [t.column(k).view(np.float64).tolist() for k in (33, 34)]
    rows = zip(*(c.tolist() for c in (t.delta_column(27), t.delta_column(28), t.column(29), t.column(30))), *floats, strict=True)
    for step, variable, *values in rows:
        file.summaries[step, variables[variable][0]] = tuple(values)
    values = t.column(43).astype(np.uint8).tobytes()
    at = 0
    for name, size, variable in zip(t.texts(39), t.column(42).tolist(), t.texts(44), strict=True):
        file.attributes.setdefault(name, variable or values[at : at + size])
        at += size


def patterns_of(t):
    """(group, slots, writes) of each."""
    slots, variables, places = (iter(c.tolist()) for c in (t.column(14), t.delta_column(15), t.column(16)))
    return [(group, [next(slots) for _ in range(slot_count)], [(next(variables), next(places)) for _ in range(writes)])
            for group, slot_count, writes in zip(*(t.column(k).tolist() for k in (11, 12, 13)), strict=True)]  # fmt: skip


def place(parts, part_patterns, patterns, variables, numbers):
    """Fills in what each part wrote, and where."""
    for number, (_, slots, writes) in enumerate(patterns):
        own = [part for part, p in zip(parts, part_patterns, strict=True) if p == number]
        found = [[] for _ in own]  # the numbers of each part, slot after slot
        for _ in range(sum(slot // 2 * (3 if slot % 2 else 1) for slot in slots)):
            for listed in found:
                listed.append(next(numbers))
        for part, listed in zip(own, found, strict=True):
            shapes, rest = [], iter(listed)
            for slot in slots:
                count = 3 if slot % 2 else 1
                shape = [tuple(next(rest) for _ in range(slot // 2)) for _ in range(count)]
                shapes.append((shape + [(), ()])[:3])
            for variable, slot in writes:
                part.writes.append((*variables[variable], *(shapes[slot] if slot < len(shapes) else (None, None, None))))


class ProcessGroup:
    """The values of a listed process group, in `data`, the file that has it."""

    def __init__(self, data, listed):
        index = listed.head + listed.size - listed.index_size
        identifier = struct.unpack_from("<Q", data, index + 8)[0]
        self.part = Container(data, listed.head, index, listed.index_hash, identifier,
                              (None, listed.container, (listed.step, None)))  # fmt: skip
        at = self.part.catalogue.place(37)
        at += self.part.catalogue.number("<I", at)
        size = self.part.catalogue.number("<I", at)
        self.description = Table(self.part.catalogue.data[at + 4 : at + 4 + size])
        d = self.description
        require((d.scalar(3, "<I"), d.scalar(4, "<Q")) == (listed.rank, listed.step), "whose process group it is")
        self.names, self.types, self.flags = d.texts(6), d.column(7).tolist(), d.column(8).tolist()
        numbers = iter(d.column(10).tolist())
        self.shapes = []
        for rank, flags in zip(d.column(9).tolist(), self.flags, strict=True):
            self.shapes.append(tuple(next(numbers) for _ in range(rank)))
            for _ in range(2 * rank if flags & 2 else 0):
                next(numbers)

    def values(self):
        """(name, array, or bytes if it is a string) of each block."""
        own_lengths, (file,) = iter(self.description.column(13).tolist()), self.part.files
        content, at = self.content(file.size), 0
        for name, kind, shape in zip(self.names, self.types, self.shapes, strict=True):
            form = np.dtype(NUMBERS[kind])
            size = next(own_lengths) if kind in (9, 12) else form.itemsize * int(np.prod(shape, dtype=object))
            value = content[at : at + size]
            yield name, value if kind in (9, 12) else np.frombuffer(value, form).reshape(shape)
            at += size
        require(at == file.size, "the values of a process group")

    def content(self, size):
        content = bytearray(size)
        for number, frame in enumerate(frames_of(self.part)):
            references, raw_bytes, raw_hash, recipe, payload = self.part.frame(number)
            kind, blocks = shape_of(frame)
            data = codecs.decode(payload, codecs.parse_recipe(recipe), kind, blocks, [])
            require(not references and len(data) == raw_bytes and hash64(data) == raw_hash, "a frame")
            at = 0
            for stream, begin, end in frame.parts:
                for offset, length in stream.ranges(begin, end):
                    content[offset : offset + length] = data[at : at + length]
                    at += length
        return bytes(content)
