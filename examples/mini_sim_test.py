#!/usr/bin/env python3
"""Runs forebay-mini-sim and checks what it wrote: the solution does not depend on the number of ranks, on the options
that say how it is written, or on whether the run was interrupted, and nothing unfinished is left behind.
Usage: mini_sim_test.py MPIEXEC PROGRAM
"""

import csv
import filecmp
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

CELLS = 12
FIELDS = {"Density", "MomentumX", "MomentumY", "MomentumZ", "TotalEnergy", "EjectaDensity", "AmbientDensity"}


PARTICLES = 1000
COLUMNS = ["Id", *(f"{what}{axis}" for axis in "XYZ" for what in ("Position", "Velocity"))]


def start(command, out, ranks, *options):
    words = ["--cells", str(CELLS), "--steps", "6", "--every", "3", "--out", out, *options]
    return subprocess.run([command[0], "-n", str(ranks), command[1], *words], timeout=100, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)  # fmt: skip


def run(command, out, ranks, *options):
    done = start(command, out, ranks, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def path_of(out, dump, rank):
    return Path(out) / f"dump_{dump:04}" / f"rank{rank:04}.h5"


def load(out, dump, ranks):
    """The fields of a dump over the whole cube and the particles by their ids, from all ranks' files."""
    names = [path_of(out, dump, rank) for rank in range(ranks)]
    found = sorted((Path(out) / f"dump_{dump:04}").iterdir())
    assert found == names, found
    cube, particles = {}, []
    for rank, name in enumerate(names):
        with h5py.File(name) as file:
            assert file.attrs["Step"][0] == 3 * dump and file.attrs["Ranks"][0] == ranks
            block = file[f"Block{rank:08}"]
            assert set(block) - {"Particles"} == FIELDS
            ghosts = block.attrs["GhostZones"][0]
            first, cells = block.attrs["FirstCell"], block.attrs["Cells"]
            x, y, z = (slice(a, a + n) for a, n in zip(first, cells))
            for field in FIELDS:
                data = block[field][()]
                inner = data[tuple(slice(ghosts, n - ghosts) for n in data.shape)]
                cube.setdefault(field, np.full((CELLS,) * 3, np.nan, data.dtype))[z, y, x] = inner
            particles.append(own_particles(block["Particles"], first, cells))
    table = np.concatenate(particles)
    cube["particles"] = table[table[:, 0].argsort()]
    return cube


def own_particles(group, first, cells):
    """The particles of a rank, one a row: all are within its block, and in the order of their ids."""
    table = np.stack([group[name][()].astype(float) for name in COLUMNS], axis=1)
    assert (np.diff(table[:, 0]) > 0).all()
    places = np.floor(table[:, [COLUMNS.index(f"Position{axis}") for axis in "XYZ"]] * CELLS)
    assert (places >= first).all() and (places < first + cells).all()
    return table


def check_ghosts(command, directory):
    """In a periodic box all ghost zones are copies of what another rank, or the same one, owns."""
    stirred, alone = f"{directory}/stirred", f"{directory}/alone"
    run(command, stirred, 8, "--stirred", "--ghosts")
    run(command, alone, 1, "--stirred")
    cube, expected = load(stirred, 2, 8), load(alone, 2, 1)
    for field in {*FIELDS, "particles"}:
        np.testing.assert_array_equal(cube[field], expected[field])
    assert len(cube["particles"]) == PARTICLES, "a periodic box loses nothing"
    assert moved_between_ranks(stirred) > 0
    for rank in range(8):
        with h5py.File(path_of(stirred, 2, rank)) as file:
            block = file[f"Block{rank:08}"]
            ghosts = block.attrs["GhostZones"][0]
            assert ghosts > 0
            first, cells = block.attrs["FirstCell"], block.attrs["Cells"]
            z, y, x = (np.arange(a - ghosts, a + n + ghosts) % CELLS for a, n in zip(first[::-1], cells[::-1]))
            for field in FIELDS:
                np.testing.assert_array_equal(block[field][()], cube[field][np.ix_(z, y, x)])
    assert min(np.unique(cube[field]).size for field in FIELDS) > CELLS**3 / 2, "hardly anything moves"


def moved_between_ranks(out):
    def homes(dump):
        found = {}
        for rank in range(8):
            with h5py.File(path_of(out, dump, rank)) as file:
                found.update(dict.fromkeys(file[f"Block{rank:08}/Particles/Id"][()], rank))
        return found

    before, after = homes(0), homes(2)
    return sum(before[particle] != after[particle] for particle in after)


def check_interruptions(command, directory):
    """A run that resumes from any checkpoint goes on to write the same bytes as the undisturbed one."""
    cases = [(1, ["--sedov"]), (3, ["--ghosts"]), (8, ["--stirred", "--ballast", "100K"])]
    for ranks, words in cases:
        whole = f"{directory}/whole{ranks}"
        run(command, whole, ranks, "--steps", "12", *words)
        for dump in range(4):
            parts = f"{directory}/parts{ranks}-{dump}"
            run(command, parts, ranks, "--steps", "12", *words, "--restart", f"{whole}/dump_{dump:04}")
            names = [f"dump_{later:04}" for later in range(dump + 1, 5)]
            assert sorted(path.name for path in Path(parts).iterdir()) == names
            for name in names:
                files = [f"rank{rank:04}.h5" for rank in range(ranks)]
                _, *differ = filecmp.cmpfiles(f"{whole}/{name}", f"{parts}/{name}", files, shallow=False)
                assert differ == [[], []], (ranks, dump, name, differ)


def check_refused(command, directory, what, damage, expected, ranks=3, words=()):
    """A copy of a good checkpoint to which `damage` was done is refused, and nothing is written."""
    source, out = Path(directory) / "source", Path(directory) / f"refused {what}"
    if not source.exists():
        run(command, str(source), 3, "--ballast", "1M")
    copy = Path(directory) / f"damaged {what}"
    shutil.copytree(source / "dump_0001", copy)
    damage(copy)
    began = time.monotonic()
    done = start(command, str(out), ranks, "--ballast", "1M", "--restart", str(copy), *words)
    assert done.returncode != 0 and expected in done.stderr, (what, done)
    assert done.stderr.count("forebay-mini-sim:") == 1, done.stderr
    assert not out.exists() and time.monotonic() - began < 20


def flip(path, place):
    data = bytearray(path.read_bytes())
    data[int(place * len(data))] ^= 4
    path.write_bytes(data)


def set_attribute(path, name, value):
    with h5py.File(path, "r+") as file:
        file.attrs[name] = [value]


def check_refusals(command, directory):
    def foreign(copy):
        with h5py.File(copy / "rank0001.h5", "w") as file:
            file["Density"] = np.zeros(5)

    def cut(copy):
        path = copy / "rank0002.h5"
        path.write_bytes(path.read_bytes()[:5000])

    def swap(copy):
        (copy / "rank0001.h5").rename(copy / "x")
        (copy / "rank0002.h5").rename(copy / "rank0001.h5")
        (copy / "x").rename(copy / "rank0002.h5")

    def other_step(copy):
        shutil.copy(copy.parent / "source/dump_0002/rank0002.h5", copy)

    def nothing(copy):
        pass

    checksum = "its values do not match their checksum"
    for what, damage, expected in [
        ("by a flipped bit in a field", lambda copy: flip(copy / "rank0001.h5", 0.04), "cannot resume from"),
        ("by a flipped bit in the ballast", lambda copy: flip(copy / "rank0001.h5", 0.7), checksum),
        ("by another time", lambda copy: set_attribute(copy / "rank0000.h5", "Time", 1.5), checksum),
        ("by a cut", cut, "HDF5 cannot open the file"),
        ("by a foreign file", foreign, "it is no checkpoint of this program"),
        ("by swapped files", swap, "Rank is 2 in the checkpoint, but 1 in this run"),
        ("by another step", other_step, "the files of the checkpoint are of different steps"),
        ("by a missing file", lambda copy: (copy / "rank0002.h5").unlink(), "HDF5 cannot open the file"),
    ]:
        check_refused(command, directory, what, damage, expected)
    for ranks in (2, 4):
        check_refused(command, directory, f"{ranks} ranks", nothing, f"Ranks is 3 in the checkpoint, but {ranks}", ranks)
    check_refused(command, directory, "cells", nothing, "CellsPerSide is 12", words=["--cells", "16"])
    check_refused(command, directory, "float", nothing, "single precision", words=["--float"])


def check_work(command, directory):
    """A fixed amount of work takes its time in every interval of every rank."""
    table = Path(directory) / "intervals.csv"
    said = run(command, f"{directory}/work", 2, "--work", "0.1", "--intervals", str(table))
    units = int(said.split("work units per interval: ")[1].split()[0])
    for words, expected in ((["--work", "0.1"], 0.1), (["--work-units", str(3 * units)], 0.3)):
        run(command, f"{directory}/work", 2, *words, "--intervals", str(table))
        rows = list(csv.DictReader(table.open()))
        places = [(int(row["rank"]), int(row["interval"])) for row in rows]
        assert places == [(rank, interval) for rank in range(2) for interval in range(2)], rows
        fastest = min(float(row["seconds"]) for row in rows)
        assert expected / 4 < fastest < expected * 4, rows
    run(command, f"{directory}/work", 2, "--intervals", str(table))
    assert all(0 < float(row["seconds"]) < 10 for row in csv.DictReader(table.open()))


def check_ballast(command, directory):
    """Ballast makes the files as much larger as was asked for, and changes nothing else."""
    plain, heavy = f"{directory}/plain", f"{directory}/heavy"
    run(command, plain, 2)
    run(command, heavy, 2, "--ballast", "10M")
    for rank in range(2):
        sizes = [path_of(out, 2, rank).stat().st_size for out in (plain, heavy)]
        assert 0 <= sizes[1] - sizes[0] - 10 * 2**20 < 10_000, sizes
        with h5py.File(path_of(plain, 2, rank)) as a, h5py.File(path_of(heavy, 2, rank)) as b:
            for field in FIELDS:
                np.testing.assert_array_equal(a[f"Block{rank:08}"][field], b[f"Block{rank:08}"][field])
            parts = [part[()] for part in b[f"Block{rank:08}/Ballast"].values()]
            assert sum(part.size for part in parts) == 10 * 2**17
            assert all(np.unique(part).size > part.size / 2 for part in parts)


def check_sedov(command, directory):
    """The blast wave is where Sedov's solution has it."""
    out = f"{directory}/sedov"
    run(command, out, 2, "--sedov", "--cells", "32", "--steps", "60", "--every", "60")
    total, count = np.zeros(32), np.zeros(32)
    for rank in range(2):
        with h5py.File(path_of(out, 1, rank)) as file:
            block = file[f"Block{rank:08}"]
            x, y, z = ((np.arange(n) + a + 0.5) / 32 - 0.5
                       for a, n in zip(block.attrs["FirstCell"], block.attrs["Cells"]))  # fmt: skip
            radius = np.sqrt(z[:, None, None] ** 2 + y[:, None] ** 2 + x**2)
            shell = np.minimum((radius * 32).astype(int), 31)
            np.add.at(total, shell, block["Density"][()])
            np.add.at(count, shell, 1)
            when = file.attrs["Time"][0]
    found = (np.argmax(total[:16] / count[:16]) + 0.5) / 32
    assert abs(found / (1.152 * when**0.4) - 1) < 0.1, (found, when)


def main(command):
    with tempfile.TemporaryDirectory() as directory:
        one, three, ghosts, single = (f"{directory}/{name}" for name in ("one", "three", "ghosts", "single"))
        run(command, one, 1)
        run(command, three, 3)
        run(command, ghosts, 3, "--ghosts")
        run(command, single, 3, "--float")
        for dump in range(3):
            expected = load(one, dump, 1)
            for out in (three, ghosts, single):
                np.testing.assert_array_equal(load(out, dump, 3)["particles"], expected["particles"])
            for field in FIELDS:
                values = expected[field]
                assert np.isfinite(values).all(), field
                assert values.dtype == np.float64
                np.testing.assert_array_equal(load(three, dump, 3)[field], values)
                np.testing.assert_array_equal(load(ghosts, dump, 3)[field], values)
                np.testing.assert_array_equal(load(single, dump, 3)[field], values.astype(np.float32))
        check_ghosts(command, directory)
        check_interruptions(command, directory)
        check_refusals(command, directory)
        check_work(command, directory)
        check_ballast(command, directory)
        check_sedov(command, directory)
        first, last = load(one, 0, 1), load(one, 2, 1)
        assert not np.array_equal(first["Density"], last["Density"]), "nothing moved"
        # Until the blast reaches the border, energy only moves around.
        np.testing.assert_allclose(last["TotalEnergy"].sum(), first["TotalEnergy"].sum(), rtol=1e-3)


if __name__ == "__main__":
    main(sys.argv[1:])
