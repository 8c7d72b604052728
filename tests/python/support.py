"""A store whose values are known: `Density`, which 8 ranks write as blocks of one array, and particles of each rank."""

import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import forebay as fb

LAYOUT = """
[[array]]
name = "Density"
variables = "/Block*/Density"
ranks = [2, 2, 2]
"""
SHAPE = (10, 12, 14)


def density(step):
    """The whole array of a step."""
    values = np.random.default_rng(step).normal(size=SHAPE).astype(np.float64)
    values[step, 1, 2] = 100 + step
    return values


def particles(step, rank):
    """Of one rank: as many as its number says."""
    return np.arange(3 + rank, dtype=np.int64) * 10 + step


def write_set(directory, step):
    """Files of 8 ranks, with HDF5's tree as codes write it."""
    import h5py

    directory.mkdir(parents=True)
    whole = density(step)
    half = [n // 2 for n in SHAPE]
    for rank in range(8):
        at = [(rank >> 2) & 1, (rank >> 1) & 1, rank & 1]
        box = tuple(slice(i * h, (i + 1) * h) for i, h in zip(at, half))
        with h5py.File(directory / f"state.{rank:04}.h5", "w") as file:
            group = file.create_group(f"Block{rank:08}")
            group["Density"] = whole[box]
            group["Density"].attrs["units"] = "g/cm^3"
            file["id"] = particles(step, rank)
            file["time"] = 0.5 * step


class StoreTest(unittest.TestCase):
    """Has a store of four steps, made once."""

    @classmethod
    def setUpClass(cls):
        cls._directory = tempfile.TemporaryDirectory(prefix="forebay-python-")
        cls.work = Path(cls._directory.name)
        cls.store = cls.work / "store"
        for step in range(4):
            write_set(cls.work / f"run/dump_{step:04}", step)
            fb.pack(cls.work / f"run/dump_{step:04}", cls.store, profile="fast")

    @classmethod
    def tearDownClass(cls):
        cls._directory.cleanup()

    def open(self, **options):
        return fb.open(self.store, **{"layout": LAYOUT, **options})


def main():
    sys.argv[1:] = []
    unittest.main()
