"""docs/codecs.md: recipes, and the codecs that need few words. lch.py, fitted.py and others.py have the rest."""

import struct

import numpy as np

from . import fitted, lch, libs, others, text
from .container import BYTES, Type
from .elements import cells, from_integers, undo_lorenzo, words


class Leb:
    """Reads numbers off the front of some bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def take(self, count):
        self.at += count
        return self.data[self.at - count : self.at]

    @property
    def at_end(self):
        return self.at == len(self.data)


def parse_recipe(recipe):
    """(id, level, size of the output, parameters) for each stage."""
    if not recipe:
        return []
    reader, stages = Leb(recipe), []
    for _ in range(reader.take(1)[0]):
        codec, level = struct.unpack("<HB", reader.take(3))
        size = reader.number()
        stages.append((codec, level, size, reader.take(reader.number()) if codec >= 64 else b""))
    if not reader.at_end:
        raise ValueError("bytes after the recipe")
    return stages


HALO, SHUFFLE, LORENZO, DIFFERENCE, COLUMNS, ENTRIES = 66, 1, 3, 4, 5, 129
NAMES = {1: "shuffle", 2: "bitshuffle", 3: "lorenzo", 4: "difference", 5: "columns", 16: "fpc", 17: "lch", 18: "planes", 19: "text", 32: "zstd", 33: "deflate", 34: "lz4",
         35: "fpzip1d", 36: "fpzip", 64: "fitted", 65: "relation", 66: "halo", 67: "multiples", 96: "zfp", 128: "base", 129: "entries",
         130: "before"}  # fmt: skip
TRANSFORMS = {1, 2, 3, 64, 65, 66, 67}


def shape_after(codec, kind, blocks, size, parameters):
    """What the next stage sees."""
    if codec == HALO:
        return kind, others.halo_shape(blocks, others.parse_halo(Leb(parameters), blocks))
    if codec == COLUMNS:
        return kind, [(1, 1, block[3], rows_of(block)) if has_columns(block) else block for block in blocks]
    if codec == DIFFERENCE:
        return Type(2, 0, kind.size), blocks
    if codec in TRANSFORMS:
        return (kind if kind.kind == 0 else Type(2, 0, kind.size)), blocks
    return BYTES, [(1, 1, 1, size)]


def undo(codec, level, parameters, data, kind, blocks, references):
    """What the stage read, from what it wrote. `kind` and `blocks` are the shape of the former."""
    total = cells(blocks) * kind.size
    if codec == 1:
        return np.frombuffer(data, np.uint8).reshape(kind.size, -1).T.tobytes()
    if codec == 2:
        return undo_bitshuffle(data, kind.size)
    if codec == LORENZO:
        return from_integers(undo_lorenzo(data, kind, blocks, level), kind)
    if codec == COLUMNS:
        return undo_columns(data, kind, blocks)
    if codec == DIFFERENCE:
        return others.undo_difference(data, kind, level, references[-1])
    if codec == 16:
        return undo_fpc(data, total // 8, level, kind)
    if codec == 17:
        return lch.decode(data, cells(blocks), kind.size, blocks)
    if codec == 18:
        return undo_planes(data, cells(blocks), level, kind)
    if codec == 19:
        return text.decode(data, total, Leb)
    if codec == 32:
        return libs.unzstd(data)
    if codec == 33:
        return libs.inflate(data)
    if codec == 34:
        return libs.unlz4(data, total)
    if codec in (35, 36):
        return undo_fpzip(data, kind, blocks if codec == 36 else [(1, 1, 1, cells(blocks))])
    if codec == 64:
        return fitted.decode(data, kind, blocks, Leb(parameters))
    if codec == 65:
        return others.undo_relation(data, kind, blocks, parameters, references)
    if codec == 67:
        return others.undo_multiples(data, kind, Leb(parameters))
    if codec == HALO:
        return others.undo_halo(data, kind, blocks, others.parse_halo(Leb(parameters), blocks))
    raise NotImplementedError(f"codec {codec}")


def names(stages):
    """Of the codecs that a frame may have gone through."""
    found = {NAMES[stage[0]] for stage in stages}
    if "entries" in found:
        parameters = Leb(stages[-1][3])
        parameters.take(1)
        found |= {NAMES[struct.unpack("<HB", parameters.take(3))[0]] for _ in range(parameters.take(1)[0])}
    return found


def cut(blocks, width, most):
    """The blocks of each entry."""
    entries, gathered = [], []
    for block in blocks:
        size = cells([block]) * width
        if size == 0:
            continue
        if gathered and (size > most or cells(gathered) * width + size > most):
            entries.append(gathered)
            gathered = []
        if size <= most:
            gathered.append(block)
            continue
        rows = [width * cells([block[axis + 1 :]]) for axis in range(4)]
        axis = next((axis for axis in range(4) if rows[axis] <= most), 3)
        d = block[axis]
        n = -(-d // max(1, most // rows[axis]))
        for _ in range(cells([block[:axis]])):
            entries += [[(1,) * axis + ((j + 1) * d // n - j * d // n,) + tuple(block[axis + 1 :])] for j in range(n)]
    return entries + [gathered] if gathered else entries


def decode_entries(payload, parameters, kind, blocks, references):
    reader = Leb(parameters)
    log, count = reader.take(2)
    chain = [struct.unpack("<HB", reader.take(3)) for _ in range(count)]
    data, at = b"", 0
    for entry in cut(blocks, kind.size, 1 << log):
        size, checksum = reader.number(), struct.unpack("<Q", reader.take(8))[0]
        body = Leb(payload[at : at + size])
        stages = parse_recipe(body.take(body.number()))
        left = iter(chain)
        if not all(stage[:2] in left for stage in stages):
            raise ValueError("an entry with a stage that is not in the chain")
        raw = cells(entry) * kind.size
        near = [reference[len(data) : len(data) + raw] for reference in references]
        part = decode(body.data[body.at :], stages, kind, entry, near)
        if len(part) != raw or libs.hash64(part) != checksum:
            raise ValueError("an entry decodes to something else")
        data += part
        at += size
    if not reader.at_end or at != len(payload):
        raise ValueError("another number of entries")
    return data


def decode(payload, stages, kind, blocks, references):
    if [stage[0] for stage in stages] == [ENTRIES]:
        return decode_entries(payload, stages[0][3], kind, blocks, references)
    inputs = []
    for codec, _, size, parameters in stages:
        inputs.append((kind, blocks))
        kind, blocks = shape_after(codec, kind, blocks, size, parameters)
    data = payload
    for (codec, level, size, parameters), (kind, blocks) in zip(reversed(stages), reversed(inputs), strict=True):
        if len(data) != size:
            raise ValueError(f"{NAMES[codec]}: {len(data)} bytes where {size} were written")
        data = undo(codec, level, parameters, data, kind, blocks, references)
    return data


def undo_bitshuffle(data, width):
    count = len(data) // width
    m = count // 8 * 8
    bits = np.unpackbits(np.frombuffer(data[: m * width], np.uint8), bitorder="little").reshape(8 * width, m)
    whole = np.packbits(bits.T.reshape(m, width, 8), axis=2, bitorder="little").tobytes() if m else b""
    return whole + data[m * width :]


def undo_fpzip(data, kind, blocks):
    at, out, i = 0, b"", 0
    while i < len(blocks):
        run = 1
        while i + run < len(blocks) and blocks[i + run] == blocks[i]:
            run += 1
        d0, d1, d2, d3 = blocks[i]
        i += run
        if d0 * d1 * d2 * d3 == 0:
            continue
        (size,) = struct.unpack_from("<Q", data, at)
        out += libs.unfpzip(data[at + 8 : at + 8 + size], kind.size, d3, d2, d1, run * d0)
        at += 8 + size
    return out


def rows_of(block):
    return block[0] * block[1] * block[2]


def has_columns(block):
    return 2 <= block[3] <= 64 and rows_of(block) > 1


def undo_columns(data, kind, blocks):
    elements, at, out = np.frombuffer(data, f"V{kind.size}"), 0, []
    for block in blocks:
        part = elements[at : at + cells([block])]
        at += len(part)
        out.append((part.reshape(block[3], -1).T if has_columns(block) else part).tobytes())
    return b"".join(out)


def undo_planes(data, count, level, kind):
    reader, planes = Leb(data), []
    for _ in range(kind.size):
        compressed = reader.take(1)[0]
        planes.append(libs.unzstd(reader.take(reader.number())) if compressed else reader.take(count))
    if not reader.at_end:
        raise ValueError("bytes after the planes")
    elements = np.frombuffer(b"".join(planes), np.uint8).reshape(kind.size, -1).T.copy().view(f"<u{kind.size}").ravel()
    bits = 8 * kind.size
    if level == 1:
        elements = elements >> 1 | elements << (bits - 1)
    return elements.astype(words(kind) if kind.kind else f"<u{kind.size}").tobytes()


def undo_fpc(data, count, level, kind):
    bits = min(level or 10, count.bit_length())
    mask, full = (1 << bits) - 1, 2**64 - 1
    v_table, d_table, h, g, p = [0] * (mask + 1), [0] * (mask + 1), 0, 0, 0
    at, values = (count + 1) // 2, []
    for i in range(count):
        code = data[i // 2] >> 4 * (i % 2) & 15
        kept = 8 - ((code & 7) + 1 if (code & 7) > 3 else code & 7)
        x = int.from_bytes(data[at : at + kept], "little")
        at += kept
        v = x ^ ((d_table[g] + p & full) if code & 8 else v_table[h])
        values.append(v)
        v_table[h] = v
        h = (h << 6 ^ v >> 48) & mask
        d = v - p & full
        d_table[g] = d
        g = (g << 2 ^ d >> 40) & mask
        p = v
    return np.array(values, np.uint64).astype(words(kind)).tobytes()
