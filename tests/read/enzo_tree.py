"""A dump such as Enzo writes: small, with known values, one file for each rank."""

import h5py
import numpy

SHAPE = (12, 10, 8)  # z, y, x
PARTS = (3, 2, 1)    # of which each is a rank's


def field(step):
    """The values of Density in a step, the whole array."""
    return numpy.sin(numpy.arange(numpy.prod(SHAPE)) * 0.01 + step).reshape(SHAPE)


def write(directory, step):
    """Writes the dump DIRECTORY/D, with the fields Density (float64) and Level (float32)."""
    directory.mkdir(parents=True)
    (directory / "D").write_text(
        f"InitialTime = {step * 0.5}\nTopGridRank = 3\nTopGridDimensions = {SHAPE[2]} {SHAPE[1]} {SHAPE[0]}\nRefineBy = 2\n"
        f"DomainLeftEdge = 0 0 0\nDomainRightEdge = {SHAPE[2]} {SHAPE[1]} {SHAPE[0]}\n")
    hierarchy, values, rank = "", field(step), 0
    count = [n // p for n, p in zip(SHAPE, PARTS)]
    ranks = int(numpy.prod(PARTS))
    for part in numpy.ndindex(PARTS):
        begin = [p * n for p, n in zip(part, count)]
        own = values[tuple(slice(b, b + n) for b, n in zip(begin, count))]
        with h5py.File(directory / f"D.cpu{rank:04}", "w") as out:
            out[f"Grid{rank + 1:08}/Density"] = own
            out[f"Grid{rank + 1:08}/Level"] = (own * 2).astype("f4")
            out[f"Grid{rank + 1:08}/mass"] = numpy.full(rank + 1, rank, dtype="i4")
        following = rank + 2 if rank + 1 < ranks else 0
        hierarchy += (
            f"\nGrid = {rank + 1}\nGridRank = 3\nGridDimension = {count[2] + 6} {count[1] + 6} {count[0] + 6}\n"
            f"GridStartIndex = 3 3 3\nGridEndIndex = {count[2] + 2} {count[1] + 2} {count[0] + 2}\n"
            f"GridLeftEdge = {begin[2]} {begin[1]} {begin[0]}\nBaryonFileName = ./D.cpu{rank:04}\n"
            f"Pointer: Grid[{rank + 1}]->NextGridThisLevel = {following}\nPointer: Grid[{rank + 1}]->NextGridNextLevel = 0\n")
        rank += 1
    (directory / "D.hierarchy").write_text(hierarchy)
