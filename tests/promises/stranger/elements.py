"""Elements as integers, and `lorenzo`, on which other codecs build."""

import numpy as np

from .flat import unzigzag


def words(kind):
    """Unsigned integers of the elements' size and byte order."""
    return np.dtype(f"{'>' if kind.order else '<'}u{kind.size}")


def floats(kind):
    return np.dtype(f"{'>' if kind.order else '<'}f{kind.size}")


def cells(blocks):
    return sum(int(np.prod(block)) for block in blocks)


def flip_negative(integers, kind):
    """Of negative floating-point numbers all bits but the top one are inverted. Its own inverse."""
    if kind.kind != 3:
        return integers
    top = integers.dtype.type(1 << 8 * kind.size - 1)
    return np.where(integers & top, integers ^ (top - integers.dtype.type(1)), integers)


def as_integers(data, kind):
    native = np.frombuffer(data, words(kind)).astype(f"u{kind.size}")
    return flip_negative(native, kind)


def from_integers(integers, kind):
    return flip_negative(integers, kind).astype(words(kind)).tobytes()


def residuals(data, kind):
    return unzigzag(np.frombuffer(data, f"<u{kind.size}").astype(f"u{kind.size}"))


def reshaped(block, level):
    kept = [n for n in block if n != 1] or [1]
    while level and len(kept) > level:
        kept[:2] = [kept[0] * kept[1]]
    return kept


def integrate(differences, last):
    """The integers of one block from its residuals, and its last integer. `last`: that of the block before."""
    values = differences.copy()
    values.flat[0] += last
    for axis in range(values.ndim):
        values = np.cumsum(values, axis=axis, dtype=values.dtype)
    return values, values.flat[-1]


def undo_lorenzo(data, kind, blocks, level):
    found = residuals(data, kind)
    out, at, last = np.empty_like(found), 0, found.dtype.type(0)
    for block in blocks:
        count = int(np.prod(block))
        if count == 0:
            continue
        with np.errstate(over="ignore"):
            values, last = integrate(found[at : at + count].reshape(reshaped(block, level)), last)
        out[at : at + count] = values.reshape(-1)
        at += count
    return out
