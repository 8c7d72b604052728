#!/usr/bin/env python3
"""The examples of docs/python.md, as they stand there, one after another."""

import os
import re
import sys
import unittest
from pathlib import Path

import numpy as np
from support import StoreTest, main

import forebay as fb

try:
    import xarray  # noqa: F401
except ImportError:
    print("skipped: there is no xarray")
    sys.exit(77)

PAGE = Path(__file__).resolve().parents[2] / "docs/python.md"


def blocks(text):
    """The indented blocks of a page that are Python."""
    for block in re.findall(r"(?:^(?:    .*)?\n)+", text, re.MULTILINE):
        lines = [line[4:] for line in block.splitlines()]
        if any(lines) and not any(line.startswith("$") for line in lines):
            yield "\n".join(lines).strip() + "\n"


def write_steps(directory):
    """Four steps of a code whose first rank writes fields, and each of them its particles."""
    import h5py

    for step in range(4):
        (directory / f"dump_{step:04}").mkdir(parents=True)
        rng = np.random.default_rng(step)
        for rank in range(4):
            with h5py.File(directory / f"dump_{step:04}/state.{rank:04}.h5", "w") as file:
                for name in ("Density", "Temperature") if rank == 0 else ():
                    file[name] = rng.uniform(0, 410, (12, 10, 8))
                file["particle_mass"] = rng.uniform(size=5 + rank)
                file["time"] = 3.2 * step


class Examples(unittest.TestCase):
    def test_all_of_them(self):
        StoreTest.setUpClass()
        self.addCleanup(StoreTest.tearDownClass)
        work = StoreTest.work / "examples"
        write_steps(work / "run")
        os.chdir(work)
        names = {}
        for step in range(4):
            fb.pack(f"run/dump_{step:04}", "store")
        sources = list(blocks(PAGE.read_text()))
        self.assertGreaterEqual(len(sources), 5)
        for source in sources:
            exec(compile(source, str(PAGE), "exec"), names)  # noqa: S102
        self.assertEqual(4, len(names["run"]))
        self.assertEqual(["dump_0003"], names["names"])
        os.chdir("/")


if __name__ == "__main__":
    main()
