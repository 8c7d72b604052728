#!/usr/bin/env python3
"""Draws the middle plane of a variable as characters, and as a picture where matplotlib is there.

usage: plot.py DIRECTORY VARIABLE PICTURE

DIRECTORY has the files of a checkpoint of the example simulation, one HDF5 file for each rank: it may lie in a mount. Each file
says where its block lies.
"""

import sys
from pathlib import Path

import h5py
import numpy

SHADES = " .:-=+*#%@"


def blocks(directory, name):
    """(first cell, values without ghost zones) of each rank's block, opened one after another."""
    for path in sorted(Path(directory).glob("*.h5")):
        with h5py.File(path) as file:
            group = next(file[key] for key in file if key.startswith("Block"))
            ghosts = int(group.attrs["GhostZones"][0])
            inner = tuple(slice(ghosts, size - ghosts) for size in group[name].shape)
            yield tuple(group.attrs["FirstCell"][::-1]), group[name][inner]  # x, y, z; arrays are z, y, x


def middle_plane(directory, name):
    parts = list(blocks(directory, name))
    shape = [max(first[d] + values.shape[d] for first, values in parts) for d in range(3)]
    whole = numpy.full(shape, numpy.nan)
    for first, values in parts:
        whole[tuple(slice(begin, begin + size) for begin, size in zip(first, values.shape))] = values
    return whole[shape[0] // 2]


def main():
    directory, name, picture = sys.argv[1:]
    plane = middle_plane(directory, name)
    low, high = plane.min(), plane.max()
    steps = ((plane - low) / (high - low or 1) * (len(SHADES) - 1)).round().astype(int)
    for row in steps[:: max(1, len(steps) // 24)]:
        print("".join(SHADES[value] for value in row[:: max(1, len(row) // 48)]))
    print(f"{name}: {low:.4g} ('{SHADES[0]}') to {high:.4g} ('{SHADES[-1]}')")
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.imshow(plane, origin="lower")
    pyplot.colorbar(label=name)
    pyplot.savefig(picture)
    print(f"the same as a picture: {picture}")


if __name__ == "__main__":
    main()
