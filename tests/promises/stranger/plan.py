"""docs/format.md, "Plan": which bytes of which files a frame holds, and the shape that codecs see."""

from collections import defaultdict
from dataclasses import dataclass

from .container import BYTES, Type


@dataclass
class Stream:
    file: int
    extents: list  # (offset, length) in the file
    variable: object = None  # None: a skeleton or a whole file

    @property
    def size(self):
        return sum(length for _, length in self.extents)

    def ranges(self, begin, end):
        """Where the bytes from `begin` to `end` of the stream lie in the file: (offset, length)."""
        at = 0
        for offset, length in self.extents:
            low, high = max(begin, at), min(end, at + length)
            if low < high:
                yield offset + low - at, high - low
            at += length
            if at >= end:
                return


@dataclass
class Group:
    type: Type
    streams: list
    block: int = 0  # 0: concatenated


@dataclass
class Frame:
    type: Type
    parts: list  # (stream, begin, end)


def skeleton(container, number):
    at, gaps = 0, []
    taken = sorted(e for v in container.files[number].variables for e in v.extents)
    for offset, length in [*taken, (container.files[number].size, 0)]:
        if offset > at:
            gaps.append((at, offset - at))
        at = max(at, offset + length)
    return Stream(number, gaps)


def filled(streams):
    return [stream for stream in streams if stream.size > 0]


def round_up(value, unit):
    return -(-value // unit) * unit


def groups_of(container):
    d = container.catalogue
    scheme, block, share = d.scalar(25, "<B"), d.scalar(26, "<Q"), d.scalar(28, "<Q")
    numbers = range(len(container.files))
    if scheme in (0, 1):
        files = filled(Stream(i, [(0, container.files[i].size)]) for i in numbers)
        return [Group(BYTES, files, block if scheme == 1 else 0)] if files else []
    key_blocks = d.column(29).tolist()
    by_key, shared, groups = defaultdict(list), defaultdict(list), []
    for variable in container.variables:
        by_key[variable.key].append(variable)
    for key in range(len(container.keys)):
        variables = by_key[key]
        if not variables:
            continue
        kind = BYTES if variables[0].filtered else variables[0].type
        streams = filled(Stream(v.file, v.extents, v) for v in variables)
        if sum(stream.size for stream in streams) < share:
            shared[kind].extend(streams)
            continue
        wanted = block if scheme == 3 else key_blocks[key] if key_blocks else 0
        groups.append(Group(kind, streams, round_up(wanted, kind.size)))
    groups += [Group(kind, shared[kind]) for kind in sorted(shared)]
    groups.append(Group(BYTES, filled(skeleton(container, i) for i in numbers)))
    return [group for group in groups if group.streams]


def cut_unit(stream, kind, most):
    if stream.variable is None or kind == BYTES:
        return 1
    unit = kind.size
    for dimension in reversed(stream.variable.block):
        if unit * dimension > most:
            break
        unit *= dimension
    return unit


def interleaved(group, most):
    longest, parts, size = max(stream.size for stream in group.streams), [], 0
    for begin in range(0, longest, group.block):
        for stream in group.streams:
            end = min(begin + group.block, stream.size)
            if begin >= end:
                continue
            if parts and size + end - begin > most:
                yield parts
                parts, size = [], 0
            parts.append((stream, begin, end))
            size += end - begin
    yield parts


def concatenated(group, most):
    parts, size = [], 0
    for stream in group.streams:
        cuts = [(0, stream.size)]
        if stream.size > most:
            unit = cut_unit(stream, group.type, most)
            step = most // unit * unit
            cuts = [(begin, min(begin + step, stream.size)) for begin in range(0, stream.size, step)]
        for begin, end in cuts:
            if parts and (stream.size > most or size + end - begin > most):
                yield parts
                parts, size = [], 0
            parts.append((stream, begin, end))
            size += end - begin
    yield parts


def frames_of(container):
    most = container.catalogue.scalar(27, "<Q")
    for group in groups_of(container):
        for parts in interleaved(group, most) if group.block else concatenated(group, most):
            yield Frame(group.type, join_adjacent(parts))


def join_adjacent(parts):
    joined = []
    for stream, begin, end in parts:
        if joined and joined[-1][0] is stream and joined[-1][2] == begin:
            joined[-1] = (stream, joined[-1][1], end)
        else:
            joined.append((stream, begin, end))
    return joined


def shape_of(frame):
    """The datatype and the blocks, of four dimensions each, that the codecs are told."""
    size = frame.type.size
    if any(begin % size or end % size for _, begin, end in frame.parts):
        kind = BYTES
    else:
        kind = frame.type
    blocks = []
    for stream, begin, end in frame.parts:
        if stream.variable is None or kind == BYTES:
            blocks.append((1, 1, 1, (end - begin) // kind.size))
        else:
            blocks += pieces(stream.variable.block, begin // size, end // size)
    return kind, blocks


def pieces(dimensions, begin, end):
    """Elements from `begin` to `end` of a variable, cut where its arrays of these dimensions end."""
    total = 1
    for dimension in dimensions:
        total *= dimension
    while begin < end:
        inside = begin % total
        count = min(total - inside, end - begin)
        yield as_block(dimensions, inside, count)
        begin += count


def as_block(dimensions, begin, count):
    first, unit = len(dimensions), 1  # i and u of the page
    while first > 1:
        larger = unit * dimensions[first - 1]
        if begin % larger or count % larger:
            break
        first, unit = first - 1, larger
    kept = [n for n in (count // unit, *dimensions[first:]) if n != 1]
    while len(kept) > 4:
        kept[:2] = [kept[0] * kept[1]]
    return (1,) * (4 - len(kept)) + tuple(kept)
