"""docs/format.md up to "Index": the file, its records, catalogue and contents."""

import struct
from dataclasses import dataclass, field

import numpy as np

from .flat import Table, signed, unzigzag
from .libs import hash64

MARKER = bytes.fromhex("f54642d31a9e720b")


def require(condition, what):
    if not condition:
        raise ValueError(what)


@dataclass(frozen=True, order=True)
class Type:
    kind: int  # 0 opaque, 1 signed, 2 unsigned, 3 floating point
    order: int  # 0 little, 1 big
    size: int


BYTES = Type(0, 0, 1)


@dataclass
class File:
    name: bytes
    kind: int
    mode: int
    mtime: int
    mtime_ns: int
    size: int
    link_target: bytes
    variables: list = field(default_factory=list)


@dataclass
class Variable:
    file: int
    key: int
    shape: tuple
    block: tuple
    type: Type
    filtered: bool
    extents: list  # (offset, length)
    place: tuple = None  # the shape of the global array that it is a part of, and where it begins there


def read_container(path):
    """A container with one part."""
    data = path.read_bytes()
    version, inverted = struct.unpack_from("<II", data, 8)
    require(data[:8] == bytes.fromhex("8f466f726562 0d0a"), "the header")
    require(version == 1 and inverted == version ^ 0xFFFFFFFF, "the version")
    tail = data[-64:]
    magic, container, offset, size, record_hash, total, version, features, own = struct.unpack("<8sQQQQQIIQ", tail)
    require(magic == bytes.fromhex("8f466254 61696c0a") and own == hash64(tail[:56]), "the trailer")
    require(total == len(data) and version == 1 and features == 0, "the trailer's values")
    require(offset + size == len(data) - 64, "where the last record is")
    return Container(data, 16, offset, record_hash, container, (0, 0, None))


def record(data, identifier, offset, kind):
    """The meta and the payload of a record."""
    header = data[offset : offset + 56]
    marker, found_id, found, _, version, meta_bytes, payload_bytes, meta_hash, payload_hash, own = struct.unpack(
        "<8sQHBBIQQQQ", header)  # fmt: skip
    require(marker == MARKER and found_id == identifier and found == kind and version == 1, "a record's header")
    require(own == hash64(header[:48]), "a record header's hash")
    meta = data[offset + 56 : offset + 56 + meta_bytes]
    payload = data[offset + 56 + meta_bytes : offset + 56 + meta_bytes + payload_bytes]
    require(hash64(meta) == meta_hash and hash64(payload) == payload_hash, "a record's hashes")
    return meta, payload


class Container:
    """A part of a container: those that do not grow have no other."""

    def __init__(self, data, head, index, index_hash, identifier, expected):
        self.data, self.id, self.index = data, identifier, index
        self.read_index(head, index, index_hash)
        self.read_part(*expected)
        self.read_files()
        self.read_variables()
        self.read_extents()

    def record(self, offset, kind):
        return record(self.data, self.id, offset, kind)

    def read_index(self, head, offset, index_hash):
        meta, payload = self.record(offset, 3)
        require(hash64(self.data[offset : offset + 48]) == index_hash, "the index that is meant")
        catalogue_bytes, contents_bytes = struct.unpack("<QQ", meta)
        require(catalogue_bytes + contents_bytes == len(payload), "the two buffers")
        require(hash64(payload[:catalogue_bytes]) == self.id, "the part's id")
        require(self.record(head, 1)[1] == payload[:catalogue_bytes], "the head's catalogue")
        self.catalogue = Table(payload[:catalogue_bytes])
        self.contents = Table(payload[catalogue_bytes:])

    def read_part(self, number, container, moment):
        d = self.catalogue
        self.step = d.scalar(35, "<Q") if d.place(35) else None
        self.time = d.scalar(36, "<d") if d.place(36) else None
        require(number in (None, d.scalar(33, "<Q")) and d.scalar(34, "<Q") == container, "which part it is")
        require(moment is None or moment == (self.step, self.time), "when the part was written")

    def read_files(self):
        d = self.catalogue
        columns = [d.texts(0), d.column(1).tolist(), d.column(2).tolist(), signed(d.delta_column(3)).tolist(),
                   d.column(4).tolist(), d.column(5).tolist(), d.texts(6)]  # fmt: skip
        self.files = [File(*row) for row in zip(*columns, strict=True)]
        self.variable_counts = d.column(9).tolist()
        require(len(self.variable_counts) == len(self.files) == len(d.column(8)), "the counts of files")

    def read_variables(self):
        d = self.catalogue
        ranks, dims = d.column(13).tolist(), iter(d.column(14).tolist())
        shapes = [tuple(next(dims) for _ in range(rank)) for rank in ranks]
        shape = d.delta_column(17)
        block = shape + unzigzag(d.column(18))
        keys, types, sizes, flags = (c.tolist() for c in (d.delta_column(16), d.column(19), d.column(20), d.column(21)))
        self.keys, self.variables = d.texts(12), []
        file_of = np.repeat(np.arange(len(self.files)), self.variable_counts).tolist()
        for i, file in enumerate(file_of):
            kind = Type(types[i] % 16, types[i] // 16, sizes[i])
            self.variables.append(Variable(file, keys[i], shapes[int(shape[i])], shapes[int(block[i])], kind,
                                           bool(flags[i] & 1), []))  # fmt: skip
            self.files[file].variables.append(self.variables[-1])
        for i, whole, begin in zip(d.delta_column(30).tolist(), d.column(31).tolist(), d.column(32).tolist(), strict=True):
            self.variables[i].place = (shapes[whole], shapes[begin])

    def read_extents(self):
        d = self.catalogue
        gaps, lengths = iter(signed(unzigzag(d.column(23))).tolist()), iter(d.column(24).tolist())
        file, end = None, 0
        for variable, count in zip(self.variables, d.column(22).tolist(), strict=True):
            if variable.file != file:
                file, end = variable.file, 0
            length = variable.type.size * int(np.prod(variable.block, dtype=object))
            for _ in range(count):
                if variable.filtered:
                    length = next(lengths)
                offset = end + next(gaps)
                end = offset + length
                variable.extents.append((offset, length))

    def frame(self, number):
        """The references, raw size and hash, recipe and payload of a frame; checked against the index."""
        meta, payload = self.record(self.frame_offsets[number], 2)
        found, references, raw_bytes, raw_hash, recipe, chain = struct.unpack_from("<IIQQII", meta)
        require(found == number and len(meta) == 32 + 4 * references + recipe + chain, "a frame's meta")
        require((raw_bytes, raw_hash) == (self.frame_raw_bytes[number], self.frame_raw_hashes[number]), "the frame table")
        where = 32 + 4 * references
        return struct.unpack_from(f"<{references}I", meta, 32), raw_bytes, raw_hash, meta[where : where + recipe], payload

    @property
    def frame_offsets(self):
        return self.cached("offsets", self.read_frame_offsets)

    def read_frame_offsets(self):
        offsets = self.contents.delta_column(1).tolist()
        return [self.index - o if o else 0 for o in offsets] if self.contents.scalar(25, "<B") else offsets

    @property
    def frame_raw_bytes(self):
        return self.cached("raw_bytes", lambda: self.contents.column(2).tolist())

    @property
    def frame_raw_hashes(self):
        return self.cached("raw_hashes", lambda: self.contents.column(4).tolist())

    def cached(self, name, make):
        cache = self.__dict__.setdefault("_cache", {})
        if name not in cache:
            cache[name] = make()
        return cache[name]
