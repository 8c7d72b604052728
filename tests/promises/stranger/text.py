"""Numbers in text (docs/codecs.md, "text")."""

import struct

from . import lch, libs

LEAST_ROWS, REACH = 64, 1 << 22
MASK = (1 << 64) - 1
POWERS = [float(f"1e{power}") for power in range(301)]


def stream(data):
    head = data.take(1)[0]
    coder, width = head & 15, 1 << (head >> 4)
    size = data.number()
    coded = bytes(data.take(data.number()))
    if coder == 3:
        return lch.decode(coded, size // width, width, [(1, 1, 1, size // width)]), width
    raw = coded if coder == 0 else libs.unzstd(coded)
    if coder == 2:
        rows = size // width
        raw = bytes(raw[plane * rows + row] for row in range(rows) for plane in range(width))
    assert len(raw) == size
    return raw, width


def integers(data):
    raw, width = stream(data)
    return [int.from_bytes(raw[at : at + width], "little") for at in range(0, len(raw), width)]


def unzigzag(code):
    return code >> 1 ^ (MASK if code & 1 else 0)


def signed(key):
    return key - (1 << 64) if key >> 63 else key


class Column:
    def __init__(self, heads, residuals=()):
        head = heads.take(1)[0]
        self.notation, self.padding, self.letter = head & 15, head >> 4 & 7, "E" if head >> 7 else "e"
        self.digits, self.width = heads.take(2)
        self.lowest = signed(unzigzag(heads.number())) if self.notation >= 2 else 0
        self.span = 9 * 10 ** (self.digits - 1) if self.notation >= 2 else 0
        self.keys = list(residuals)

    def format(self):
        return self.notation, self.digits, self.letter, self.lowest

    def parts(self, magnitude):
        exponent, mantissa = divmod(magnitude - 1, self.span)
        return self.lowest + exponent, mantissa + 10 ** (self.digits - 1)

    def text(self, key):
        key = signed(key)
        sign, magnitude = ("-", -key - 1) if key < 0 else ("", key)
        if self.notation == 0:
            return sign + str(magnitude)
        if self.notation == 1:
            digits = str(magnitude).rjust(self.digits + 1, "0")
            return f"{sign}{digits[:-self.digits]}.{digits[-self.digits:]}"
        exponent, mantissa = self.parts(magnitude) if magnitude else (0, 0)
        digits = str(mantissa).rjust(self.digits, "0")
        if self.notation == 3:
            return f"{sign}0.{digits}{self.tail(exponent + 1 if magnitude else 0)}"
        if self.notation == 2:
            return sign + digits[0] + ("." + digits[1:] if self.digits > 1 else "") + self.tail(exponent)
        return sign + self.general(digits, exponent) if magnitude else sign + "0"

    def general(self, digits, exponent):
        kept = digits.rstrip("0")
        if exponent < -4 or exponent >= self.digits:
            return kept[0] + ("." + kept[1:] if len(kept) > 1 else "") + self.tail(exponent)
        if exponent < 0:
            return "0." + "0" * (-exponent - 1) + kept
        whole = digits[: exponent + 1]
        return whole + ("." + kept[exponent + 1 :] if len(kept) > exponent + 1 else "")

    def tail(self, exponent):
        return f"{self.letter}{'-' if exponent < 0 else '+'}{abs(exponent):02}"

    def value(self, key):
        key = signed(key)
        magnitude = -key - 1 if key < 0 else key
        if not magnitude:
            return 0.0
        exponent, mantissa = self.parts(magnitude)
        value = scaled(float(mantissa), exponent - self.digits + 1)
        return -value if key < 0 else value

    def nearest(self, value):
        size = abs(value)
        if not 0 < size < 1e299:
            return 0
        magnitude = self.magnitude(size)
        return (-magnitude - 1 if value < 0 else magnitude) & MASK

    def magnitude(self, size):
        power = (struct.unpack("<Q", struct.pack("<d", size))[0] >> 52) - 1023
        exponent, most = 19729 * power >> 16, min(1000, (1 << 62) // self.span - 1)
        while True:
            if exponent < self.lowest:
                if exponent + 2 < self.lowest:
                    return 0
                exponent += 1
                continue
            if exponent - self.lowest >= most:
                return 0
            mantissa = int(scaled(size, self.digits - 1 - exponent) + 0.5)
            if mantissa < 10**self.digits:
                low = 10 ** (self.digits - 1)
                return 1 + (exponent - self.lowest) * self.span + max(mantissa, low) - low
            exponent += 1


def scaled(value, power):
    if power >= 0:
        return value * POWERS[min(power, 300)]
    return 0.0 if power < -300 else value / POWERS[-power]


def predict(number, x, k, lag, b, c, ids):
    """Of row k; x[k + 1] is row k, x[0] the row before the run."""
    a = x[k]
    if number in (0, 1):
        return a * number
    if number == 2:
        return a + (a - x[k - 1]) if k > 1 else a
    if number == 3:
        return x[k + 1 - lag] if k >= lag else a
    if number == 4:
        return x[k + 1 - lag] + (x[k + 1 - lag] - x[k + 1 - 2 * lag]) if k >= 2 * lag else a
    if number == 5:
        return a + (x[k + 1 - lag] - x[k - lag]) if k > lag else a
    if number == 6:
        return b[k]
    if number == 7:
        return a + (b[k] - b[k - 1]) if k else b[0]
    line = lambda row: b[row] + (b[row] - c[row])
    if number == 8:
        return line(k)
    if number == 9:
        return a + (line(k) - line(k - 1)) if k else b[0]
    if number == 10:
        if k <= lag:
            return predict(7, x, k, lag, b, c, ids)
        return predict(5, x, k, lag, b, c, ids) + (b[k] - (b[k - 1] + (b[k - lag] - b[k - lag - 1])))
    if number == 11:
        return c[k]
    if number == 12:
        return a + (c[k] - c[k - 1]) if k else c[0]
    return b[ids[k]] if k in ids else a


class Decoder:
    def __init__(self, data, reader):
        """reader: of numbers off the front of bytes."""
        self.data = reader(data)
        self.heads, self.codes, self.choices, self.plain = (reader(stream(self.data)[0]) for _ in range(4))
        self.out, self.before = bytearray(), {}

    def run(self, total):
        while len(self.out) < total:
            self.section()
        return bytes(self.out)

    def section(self):
        begin, size, lines = len(self.out), self.heads.number(), self.heads.number()
        if not lines:
            self.out += self.plain.take(size)
            return
        codes = self.codes.take(lines)
        templates = [None]
        for _ in range(self.heads.number()):
            templates.append([bytes(self.heads.take(self.heads.number())) for _ in range(self.heads.number() + 1)])
        kinds = [len(templates[code]) - 1 if code else 0 for code in codes]
        tables = {n: [Column(self.heads) for _ in range(n)] for n in sorted(set(kinds) - {0})}
        for columns in tables.values():
            for column in columns:
                column.keys = integers(self.data)
        self.runs(begin, kinds, tables)
        self.print(begin + size, codes, templates, tables)

    def runs(self, begin, kinds, tables):
        rows, at = dict.fromkeys(tables, 0), 0
        while at < len(kinds):
            n, first = kinds[at], at
            while at < len(kinds) and kinds[at] == n:
                at += 1
            if n:
                self.run_of(begin, tables[n], rows[n], at - first)
                rows[n] += at - first

    def run_of(self, begin, columns, first, rows):
        chosen = rows >= LEAST_ROWS
        last = second = None
        lag = 0
        if chosen:
            last, second = (one if one and one[2] + REACH >= begin else None
                            for one in self.before.get((len(columns), rows), (None, None)))  # fmt: skip
            self.before[len(columns), rows] = (columns, first, begin), last
            lag = self.choices.number()
        ids = {}
        for number, column in enumerate(columns):
            choice = self.choices.take(1)[0] if chosen else 2
            if number == 1 and last:
                where = {key: row for row, key in enumerate(last[0][0].keys[last[1] : last[1] + rows])}
                mine = columns[0].keys[first : first + rows]
                ids = {row: where[key] for row, key in enumerate(mine) if key in where}
            self.column(column, number, choice, first, rows, lag, last, second, ids)

    def column(self, column, number, choice, first, rows, lag, last, second, ids):
        in_values = choice & 1
        take = (lambda col, key: col.value(key)) if in_values else (lambda col, key: key)
        earlier = [[take(one[0][number], key) for key in one[0][number].keys[one[1] : one[1] + rows]] if one else None
                   for one in (last, second)]  # fmt: skip
        x = [take(column, column.keys[first - 1]) if first else 0]
        for k in range(rows):
            guess = predict(choice >> 1, x, k, lag, *earlier, ids)
            key = ((column.nearest(guess) if in_values else guess) + unzigzag(column.keys[first + k])) & MASK
            column.keys[first + k] = key
            x.append(take(column, key))

    def print(self, end, codes, templates, tables):
        rows = dict.fromkeys(tables, 0)
        for code in codes:
            if not code:
                self.out += self.plain_line(end - len(self.out))
                continue
            literals = templates[code]
            n, row, before = len(literals) - 1, rows[len(literals) - 1], 0
            rows[n] += 1
            for literal, column in zip(literals, tables[n]):
                text = column.text(column.keys[row])
                taken = (0, len(text), before)[column.padding]
                self.out += literal + b" " * (column.width - taken) + text.encode()
                before = len(text)
            self.out += literals[-1] + b"\n"
        assert len(self.out) == end

    def plain_line(self, most):
        line = bytearray()
        while len(line) < most and not line.endswith(b"\n"):
            line += self.plain.take(1)
        return line


def decode(data, total, reader):
    return Decoder(data, reader).run(total)
