"""docs/codecs.md, "difference", "relation", "halo", "multiples" and "base"."""

import struct
from dataclasses import dataclass

import numpy as np

from . import libs
from .elements import as_integers, flip_negative, floats, from_integers, residuals, reshaped, words


def undo_difference(data, kind, level, other):
    found = residuals(data, kind) if level == 0 else np.frombuffer(data, f"<u{kind.size}").astype(f"u{kind.size}")
    with np.errstate(over="ignore"):
        return from_integers(found + as_integers(other, kind), kind)


def undo_multiples(data, kind, reader):
    divides = reader.take(1)[0]
    (base,) = struct.unpack("<d", reader.take(8))
    lowest = reader.number()
    lowest = lowest >> 1 ^ -(lowest & 1)
    word = f"<u{kind.size}"
    specials = np.frombuffer(reader.take(reader.take(1)[0] * kind.size), word)
    codes = np.frombuffer(data, word).astype(np.uint64)
    with np.errstate(all="ignore"):
        multiples = (codes - np.uint64(len(specials)) + np.uint64(lowest % 2**64)).view(np.int64).astype(np.float64)
        values = (multiples / base if divides else multiples * base).astype(f"<f{kind.size}").view(word)
    for code, bits in enumerate(specials):
        values = np.where(codes == code, bits, values)
    at = 0
    while not reader.at_end:
        at += reader.number()
        (values[at],) = np.frombuffer(reader.take(kind.size), word)
        at += 1
    return values.astype(words(kind)).tobytes()


def undo_relation(data, kind, blocks, parameters, references):
    changes, count = parameters[0], parameters[1]
    sources = [np.frombuffer(reference, floats(kind)).astype(np.float64) for reference in references]
    found = residuals(data, kind)
    combination = np.zeros(len(found))
    with np.errstate(all="ignore"):
        for term in range(count):
            index, power, coefficient = struct.unpack_from("<BBd", parameters, 2 + 10 * term)
            v = sources[index]
            combination = combination + coefficient * (v if power == 1 else v * v)
        if changes == 0:
            integers = found + predicted(combination, kind)
        else:
            integers = undo_changes(found, combination, kind, blocks)
    return flip_negative(integers, kind).astype(words(kind)).tobytes()


def predicted(values, kind):
    """Predictions as integers."""
    rounded = values.astype(f"f{kind.size}")
    rounded = np.where(np.isnan(rounded), rounded.dtype.type(0), rounded)
    return as_integers(rounded.astype(floats(kind)).tobytes(), kind)


def undo_changes(found, combination, kind, blocks):
    out, at = np.empty_like(found), 0
    for block in blocks:
        count = int(np.prod(block))
        if count == 0:
            continue
        dims = reshaped(block, 3)
        planes, rows, n = (1,) * (3 - len(dims)) + tuple(dims)
        c = combination[at : at + count].reshape(planes, rows, n)
        r, y = found[at : at + count].reshape(c.shape), np.empty(c.shape)
        integers = out[at : at + count].reshape(c.shape)
        for z in range(planes):
            for row in range(rows):
                decode_row(integers[z, row], y[z, row], c[z, row], r[z, row], others_of(y, z, row), kind)
        at += count
    return out


def others_of(y, z, row):
    """What the neighbouring rows say of what is left over: o."""
    if row > 0 and z > 0:
        return (y[z, row - 1] + y[z - 1, row]) - y[z - 1, row - 1]
    if row > 0:
        return y[z, row - 1]
    return y[z - 1, row] if z > 0 else np.zeros(y.shape[2])


def decode_row(integers, y, c, r, o, kind):
    drift = np.float64(0)
    for i in range(len(c)):
        prediction = predicted(np.array([c[i] + (o[i] + drift)]), kind)
        integers[i] = (r[i : i + 1] + prediction)[0]
        bits = flip_negative(integers[i : i + 1], kind)
        y[i] = np.float64(bits.view(f"f{kind.size}")[0]) - c[i]
        drift = y[i] - o[i]


@dataclass
class Copy:
    to: int  # blocks
    source: int
    to_box: tuple  # slices
    source_box: tuple


def parse_halo(reader, blocks):
    size = reader.number()
    rest = reader.take(len(reader.data) - reader.at)
    listed = type(reader)(rest if len(rest) == size else libs.unzstd(rest))
    copies, block = [], 0
    while not listed.at_end:
        block += listed.number()
        source = block - listed.number()
        to_box, source_box = [], []
        for to_cells, source_cells in zip(blocks[block], blocks[source], strict=True):
            if to_cells == 1 and source_cells == 1:
                begin, behind, first = 0, 0, 0
            else:
                begin, behind, first = listed.number(), listed.number(), listed.number()
            to_box.append(slice(begin, to_cells - behind))
            source_box.append(slice(first, first + to_cells - behind - begin))
        copies.append(Copy(block, source, tuple(to_box), tuple(source_box)))
    return copies


def boxes(blocks, copies):
    """For each block the smallest box of what is not covered: slices, or None."""
    covered = [np.zeros(block, bool) for block in blocks]
    for copy in copies:
        covered[copy.to][copy.to_box] = True
    found = []
    for mask in covered:
        left = np.nonzero(~mask)
        found.append(tuple(slice(int(x.min()), int(x.max()) + 1) for x in left) if len(left[0]) else None)
    return found


def halo_shape(blocks, copies):
    return [tuple(s.stop - s.start for s in box) if box else (0, 0, 0, 0) for box in boxes(blocks, copies)]


def undo_halo(data, kind, blocks, copies):
    stored, at = np.frombuffer(data, f"V{kind.size}"), 0
    out = [np.zeros(block, f"V{kind.size}") for block in blocks]
    for array, box in zip(out, boxes(blocks, copies), strict=True):
        if box is None:
            continue
        count = array[box].size
        array[box] = stored[at : at + count].reshape(array[box].shape)
        at += count
    for copy in copies:
        out[copy.to][copy.to_box] = out[copy.source][copy.source_box].copy()
    return b"".join(array.tobytes() for array in out)


@dataclass
class Base:
    container_id: int
    number: int
    set: str
    container: str


def parse_base(parameters):
    identifier, number, length = struct.unpack_from("<QIB", parameters)
    return Base(identifier, number, parameters[13 : 13 + length].decode(), parameters[13 + length :].decode())
