#!/usr/bin/env python3
"""Runs forebay-mini-sim and checks what it wrote: the solution does not depend on the number of ranks or on the options
that say how it is written, and nothing unfinished is left behind.
Usage: mini_sim_test.py MPIEXEC PROGRAM
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

CELLS = 12
FIELDS = {"Density", "MomentumX", "MomentumY", "MomentumZ", "TotalEnergy", "EjectaDensity", "AmbientDensity"}


def run(command, out, ranks, *options):
    subprocess.run(
        [command[0], "-n", str(ranks), command[1], "--cells", str(CELLS), "--steps", "6", "--every", "3", "--out", out,
         *options],
        check=True, timeout=100, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)  # fmt: skip


def load(out, dump, ranks):
    """The fields of a dump over the whole cube, from all ranks' files."""
    names = [f"dump_{dump:04}.rank{rank:04}.h5" for rank in range(ranks)]
    found = sorted(path.name for path in (Path(out) / f"dump_{dump:04}").iterdir())
    assert found == names, found
    cube = {}
    for rank, name in enumerate(names):
        with h5py.File(Path(out) / f"dump_{dump:04}" / name) as file:
            assert file.attrs["Step"][0] == 3 * dump and file.attrs["Ranks"][0] == ranks
            block = file[f"Block{rank:08}"]
            assert set(block) == FIELDS
            ghosts = block.attrs["GhostZones"][0]
            x, y, z = (slice(a, a + n) for a, n in zip(block.attrs["FirstCell"], block.attrs["Cells"]))
            for field in FIELDS:
                data = block[field][()]
                inner = data[tuple(slice(ghosts, n - ghosts) for n in data.shape)]
                cube.setdefault(field, np.full((CELLS,) * 3, np.nan, data.dtype))[z, y, x] = inner
    return cube


def check_ghosts(command, directory):
    """In a periodic box all ghost zones are copies of what another rank, or the same one, owns."""
    stirred, alone = f"{directory}/stirred", f"{directory}/alone"
    run(command, stirred, 8, "--stirred", "--ghosts")
    run(command, alone, 1, "--stirred")
    cube, expected = load(stirred, 2, 8), load(alone, 2, 1)
    for field in FIELDS:
        np.testing.assert_array_equal(cube[field], expected[field])
    for rank in range(8):
        with h5py.File(f"{stirred}/dump_0002/dump_0002.rank{rank:04}.h5") as file:
            block = file[f"Block{rank:08}"]
            ghosts = block.attrs["GhostZones"][0]
            assert ghosts > 0
            first, cells = block.attrs["FirstCell"], block.attrs["Cells"]
            z, y, x = (np.arange(a - ghosts, a + n + ghosts) % CELLS for a, n in zip(first[::-1], cells[::-1]))
            for field in FIELDS:
                np.testing.assert_array_equal(block[field][()], cube[field][np.ix_(z, y, x)])
    assert min(np.unique(cube[field]).size for field in FIELDS) > CELLS**3 / 2, "hardly anything moves"


def main(command):
    with tempfile.TemporaryDirectory() as directory:
        one, three, ghosts, single = (f"{directory}/{name}" for name in ("one", "three", "ghosts", "single"))
        run(command, one, 1)
        run(command, three, 3)
        run(command, ghosts, 3, "--ghosts")
        run(command, single, 3, "--float")
        for dump in range(3):
            expected = load(one, dump, 1)
            for field in FIELDS:
                values = expected[field]
                assert np.isfinite(values).all(), field
                assert values.dtype == np.float64
                np.testing.assert_array_equal(load(three, dump, 3)[field], values)
                np.testing.assert_array_equal(load(ghosts, dump, 3)[field], values)
                np.testing.assert_array_equal(load(single, dump, 3)[field], values.astype(np.float32))
        check_ghosts(command, directory)
        first, last = load(one, 0, 1), load(one, 2, 1)
        assert not np.array_equal(first["Density"], last["Density"]), "nothing moved"
        # Until the blast reaches the border, energy only moves around.
        np.testing.assert_allclose(last["TotalEnergy"].sum(), first["TotalEnergy"].sum(), rtol=1e-3)


if __name__ == "__main__":
    main(sys.argv[1:])
