"""docs/codecs.md, "fitted": predictions by weighted sums of neighbours, in binary64 arithmetic."""

import struct

import numpy as np

from .elements import flip_negative, integrate, reshaped, residuals, words


def is_small(dims):
    return int(np.prod(dims)) == 0 or dims[-1] < 8 or len(dims) < 2 or dims[-2] < 4


def parse_runs(reader):
    """(number of blocks, form, weights for planes, weights for volumes) of each run."""
    runs = []
    for _ in range(reader.number()):
        blocks, form = reader.number(), reader.take(1)[0]
        letter, size = ("d", 8) if form & 4 else ("f", 4)
        counts = {0: (0, 0), 1: (9, 0), 2: (9, 19)}[form & 3]
        weights = [struct.unpack(f"<{n}{letter}", reader.take(n * size)) for n in counts]
        runs.append((blocks, form & 3, *weights))
    if not reader.at_end:
        raise ValueError("bytes after the runs")
    return runs


class Decoder:
    def __init__(self, data, kind):
        self.found, self.kind = residuals(data, kind), kind
        self.native = np.dtype(f"u{kind.size}")
        self.at, self.last = 0, self.native.type(0)
        self.letter, self.integer = ("<f", "<I") if kind.size == 4 else ("<d", "<Q")
        self.largest = float(np.finfo(f"f{kind.size}").max)
        self.mask, self.top = (1 << 8 * kind.size) - 1, 1 << 8 * kind.size - 1

    def take(self, count):
        self.at += count
        return self.found[self.at - count : self.at]

    def lorenzo(self, dims):
        count = int(np.prod(dims))
        if count == 0:
            return np.zeros(0, self.native)
        with np.errstate(over="ignore"):
            values, self.last = integrate(self.take(count).reshape(dims), self.last)
        return values.reshape(-1)

    def as_floats(self, integers):
        """What integers stand for, as doubles."""
        return flip_negative(integers, self.kind).view(f"f{self.kind.size}").astype(np.float64)

    def volume(self, dims, plane_weights, volume_weights):
        planes, rows, n = (1,) * (3 - len(dims)) + tuple(dims)
        integers = np.empty((planes, rows, n), self.native)
        done = []  # planes of extended rows
        for z in range(planes):
            done.append([])
            for y in range(rows):
                if z == 0 and y == 0:
                    integers[z, y] = self.lorenzo((n,))
                else:
                    near = Neighbours(done, z, y, rows)
                    integers[z, y] = self.row(n, near, volume_weights if near.is_inside else plane_weights)
                done[z].append(extended(self.as_floats(integers[z, y])))
        return integers.reshape(-1)

    def row(self, n, near, weights):
        u, sums = near.u, near.sums(n, weights)
        found, out = self.take(n).tolist(), [0] * n
        c0, c1, last, before = weights[0], weights[1], u[1] + near.g, u[0] + near.g
        letter, integer, largest, mask, top = self.letter, self.integer, self.largest, self.mask, self.top
        pack, unpack = struct.Struct(letter), struct.Struct(integer)
        for i, (s, here) in enumerate(zip(sums.tolist(), u[2 : n + 2].tolist(), strict=True)):
            p = (here + (s + c1 * (before - here))) + c0 * (last - here)
            if not -largest <= p <= largest:
                p = 0.0
            bits = unpack.unpack(pack.pack(p))[0]
            value = (bits ^ top - 1 if bits & top else bits) + found[i] & mask
            out[i] = value
            bits = value ^ top - 1 if value & top else value
            before, last = last, pack.unpack(unpack.pack(bits))[0]
        self.last = self.native.type(out[-1])
        return np.array(out, self.native)


def extended(row):
    """A row with two elements more on both sides; element i is at i + 2."""
    left, right = row[0] - row[1], row[-1] - row[-2]
    x1, xn = row[0] + left, row[-1] + right
    return np.concatenate([[x1 + left, x1], row, [xn, xn + right]])


class Neighbours:
    """The rows u, v, a, b, d and e of row y of plane z."""

    def __init__(self, done, z, y, rows):
        self.is_inside, self.g = y > 0 and z > 0, 0.0
        if y > 0:
            self.u, self.v = done[z][y - 1], done[z][max(y - 2, 0)]
        else:
            self.u, self.v = done[z - 1][0], done[max(z - 2, 0)][0]
        if self.is_inside:
            below = done[z - 1]
            self.a, self.b, self.e = below[y - 1], below[y], done[max(z - 2, 0)][y]
            self.d = below[y + 1] if y + 1 < rows else below[y] + (below[y] - below[y - 1])
            self.g = float(self.b[2] - self.a[2])

    def sums(self, n, weights):
        places = [(self.u, -1), (self.u, 1), (self.v, 0), (self.u, -2), (self.u, 2), (self.v, -1), (self.v, 1)]
        if self.is_inside:
            places += [(row, shift) for row in (self.a, self.b, self.d) for shift in (-1, 0, 1)] + [(self.e, 0)]
        here, total = self.u[2 : n + 2], np.zeros(n)
        for weight, (row, shift) in zip(weights[2:], places, strict=True):
            total = total + weight * (row[2 + shift : n + 2 + shift] - here)
        return total


def decode(data, kind, blocks, reader):
    runs = parse_runs(reader)
    of_blocks = iter([run for run in runs for _ in range(run[0])])
    decoder, out = Decoder(data, kind), []
    with np.errstate(all="ignore"):
        for block in blocks:
            dims = reshaped(block, 0)
            form, planes, volumes = (0, (), ()) if is_small(dims) else next(of_blocks)[1:]
            if form == 0:
                out.append(decoder.lorenzo(dims))
            elif len(dims) == 4:
                out += [decoder.volume(dims[1:], planes, volumes) for _ in range(dims[0])]
            else:
                out.append(decoder.volume(dims, planes, volumes))
    if next(of_blocks, None) is not None:
        raise ValueError("runs for more blocks than there are")
    integers = np.concatenate(out) if out else np.zeros(0, decoder.native)
    return flip_negative(integers, kind).astype(words(kind)).tobytes()
