"""What a file of process groups says, whoever wrote it, and how two of them differ."""

from dataclasses import dataclass, field

import numpy

TYPES = {
    0: "int8", 1: "int16", 2: "int32", 4: "int64", 5: "float32", 6: "float64", 7: "long_double", 9: "string",
    10: "complex64", 11: "complex128", 12: "string_array", 50: "uint8", 51: "uint16", 52: "uint32", 54: "uint64",
}  # fmt: skip
NUMPY = {
    "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "float32": "f4", "float64": "f8", "long_double": "f16",
    "complex64": "c8", "complex128": "c16", "uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8",
}  # fmt: skip


@dataclass
class Block:
    """One write of one variable by one rank. Shapes are in C order, without time."""

    name: str
    type: str
    rank: int
    shape: tuple = ()
    global_shape: tuple = ()
    offsets: tuple = ()
    data: bytes = b""
    bounds: tuple = None  # (min, max) as numbers, or None if nothing was recorded

    def values(self):
        return numpy.frombuffer(self.data, NUMPY[self.type])

    def text(self):
        place = f" of {list(self.global_shape)} at {list(self.offsets)}" if self.global_shape else ""
        return f"{self.name} of rank {self.rank}: {self.type} {list(self.shape)}{place}"


@dataclass
class Output:
    steps: list = field(default_factory=list)  # of lists of blocks, ordered by rank, then as written
    attributes: dict = field(default_factory=dict)  # name: (type, list of values), or ("reference", [variable])


def _same_bytes(one, other):
    if one.type != "long_double":
        return one.data == other.data
    # Of the 16 bytes, 10 are the number.
    cut = [numpy.frombuffer(b.data, "u1").reshape(-1, 16)[:, :10] for b in (one, other)]
    return cut[0].shape == cut[1].shape and bool((cut[0] == cut[1]).all())


def _in_order(blocks):
    """Blocks by rank and name, in order of writing: how writes of different variables follow one another is free."""
    return sorted(blocks, key=lambda b: (b.rank, b.name))


def true_bounds(block):
    """Smallest and largest of the values that are numbers, or None if there are none or they have no order."""
    if block.type not in NUMPY or block.type.startswith("complex") or not block.shape:
        return None
    values = block.values()
    values = values[~numpy.isnan(values)] if values.dtype.kind == "f" else values
    return (values.min(), values.max()) if values.size else None


def _compare_block(where, want, got):
    head = ("name", "type", "rank", "shape", "global_shape", "offsets")
    if any(getattr(want, key) != getattr(got, key) for key in head):
        return [f"{where}: expected {want.text()}, found {got.text()}"]
    errors = []
    if not _same_bytes(want, got):
        errors.append(f"{where}: values of {want.text()} differ")
    if want.bounds is not None and got.bounds is not None:
        # The original looks at infinite values or not, as its statistics are set; what is checked is what is true.
        if tuple(got.bounds) not in (tuple(want.bounds), true_bounds(got), finite_bounds(got)):
            errors.append(f"{where}: bounds of {want.text()}: expected {want.bounds}, found {got.bounds}")
    elif want.bounds is not None:
        errors.append(f"{where}: {want.text()} has no bounds, where the original has {want.bounds}")
    return errors


def finite_bounds(block):
    values = block.values() if block.type in NUMPY else numpy.zeros(0)
    values = values[numpy.isfinite(values)]
    return (values.min(), values.max()) if values.size and not block.type.startswith("complex") else None


def differences(want, got):
    """Sentences about how `got` differs from `want`; none if they say the same."""
    errors = []
    if len(want.steps) != len(got.steps):
        errors.append(f"expected {len(want.steps)} steps, found {len(got.steps)}")
    for number, (before, after) in enumerate(zip(want.steps, got.steps)):
        before, after, where = _in_order(before), _in_order(after), f"step {number}"
        if len(before) != len(after):
            names = {(b.name, b.rank) for b in before} ^ {(b.name, b.rank) for b in after}
            errors.append(f"{where}: expected {len(before)} blocks, found {len(after)}; only one has {sorted(names)[:5]}")
            continue
        for one, other in zip(before, after):
            errors += _compare_block(where, one, other)
    for name in sorted(want.attributes.keys() | got.attributes.keys()):
        one, other = want.attributes.get(name), got.attributes.get(name)
        if one != other:
            errors.append(f"attribute {name}: expected {one}, found {other}")
    return errors
