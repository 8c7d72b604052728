"""docs/codecs.md, "lch": residuals by magnitude in the contexts of their neighbours."""

import numpy as np

GROUP = 64


class Head:
    def __init__(self, data, count, element_bytes):
        self.data, self.at = data, 3
        self.leading, zeros = data[0] & 3, data[0] >> 2 & 3
        left, upper = (data[1] & 15) + 1, (data[1] >> 4) + 1
        symbols = data[2] + 1
        self.left_bounds = self.take(left - 1)
        self.upper_bounds = [self.take(upper - 1) for _ in range(left)]
        self.upper_classes = upper
        self.codes = [make_code(lengths) for lengths in self.read_lengths(left * upper, symbols)]
        groups = -(-count // GROUP)
        self.coded = [g for g, zero in enumerate(self.read_zeros(zeros, groups)) if not zero]
        width = 4 if count * element_bytes > 65535 else 2
        sizes = [int.from_bytes(self.take(width), "little") for _ in range(3)]
        self.streams = [self.take(size) for size in sizes] + [data[self.at :]]

    def take(self, count):
        self.at += count
        return self.data[self.at - count : self.at]

    def leb(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def read_lengths(self, contexts, symbols):
        lengths, half = [], 0

        def nibble():
            nonlocal half
            value = self.data[self.at + half // 2] >> 4 * (half % 2) & 15
            half += 1
            return value

        while len(lengths) < contexts * symbols:
            lengths.append(nibble())
            if lengths[-1] == 0:
                lengths += [0] * nibble()
        self.at += (half + 1) // 2
        return [lengths[c * symbols : (c + 1) * symbols] for c in range(contexts)]

    def read_zeros(self, kind, groups):
        if kind == 0:
            return [False] * groups
        if kind == 1:
            bits = self.take(-(-groups // 8))
            return [bool(bits[g // 8] >> g % 8 & 1) for g in range(groups)]
        zeros, is_zero = [], False
        while len(zeros) < groups:
            zeros += [is_zero] * self.leb()
            is_zero = not is_zero
        return zeros


def make_code(lengths):
    """(mask, [(symbol, bits of the code) by the next bits of the stream])."""
    single = [symbol for symbol, length in enumerate(lengths) if length == 15]
    if single or not any(lengths):
        return 0, [(single[0] if single else 0, 0)]
    longest = max(lengths)
    table, code, before = [None] * (1 << longest), 0, 0
    for length, symbol in sorted((length, symbol) for symbol, length in enumerate(lengths) if length):
        code = (code + 1 if before else 0) << (length - before if before else 0)
        before = length
        first = int(f"{code:0{length}b}"[::-1], 2)
        for entry in range(first, 1 << longest, 1 << length):
            table[entry] = (symbol, length)
    return (1 << longest) - 1, table


def row_lengths(blocks):
    """For each block where it ends, and how far back upper neighbours are."""
    end, rows = 0, []
    for block in blocks:
        end += int(np.prod(block))
        kept = [n for n in block if n != 1]
        rows.append((end, kept[-1] if len(kept) > 1 else 2))
    return rows


def class_table(bounds, symbols):
    return [sum(bound <= symbol for bound in bounds) for symbol in range(symbols)]


def decode(data, count, element_bytes, blocks):
    head = Head(data, count, element_bytes)
    most = (8 * element_bytes - head.leading - 1 << head.leading) + (2 << head.leading)
    left_class = class_table(head.left_bounds, most)
    upper_class = [class_table(bounds, most) for bounds in head.upper_bounds]
    codes_of = [[head.codes[a * head.upper_classes + b] for b in classes] for a, classes in enumerate(upper_class)]
    codes_after = [codes_of[a] for a in left_class]  # by the left symbol, then by the upper one
    symbols, values = [0] * count, [0] * count
    rows, groups = row_lengths(blocks), len(head.coded)
    for lane, stream in enumerate(head.streams):
        numbers = head.coded[lane * groups // 4 : (lane + 1) * groups // 4]
        decode_lane(stream, numbers, count, head.leading, rows, codes_after, symbols, values)
    return np.array(values, np.uint64).astype(f"<u{element_bytes}").tobytes()


def decode_lane(stream, groups, count, leading, rows, codes_after, symbols, values):
    if not groups:
        return
    start, block = groups[0] * GROUP, 0
    at = bits = held = 0  # the next bytes of the stream, and what is held of those before
    left = 0
    for group in groups:
        first = group * GROUP
        while rows[block][0] <= first:
            block += 1
        distance = rows[block][1]
        has_upper = first - start >= distance
        left = symbols[first - 1] if first > start else 0
        for i in range(first, min(first + GROUP, count)):
            if held < 80:
                bits |= int.from_bytes(stream[at : at + 16], "little") << held
                at += 16
                held += 128
            mask, table = codes_after[left][symbols[i - distance] if has_upper else 0]
            left, length = table[bits & mask]
            raw = max(left >> leading, 1) - 1
            values[i] = (left - (raw << leading) << raw) + (bits >> length & (1 << raw) - 1)
            bits >>= length + raw
            held -= length + raw
            symbols[i] = left
