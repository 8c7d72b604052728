#!/usr/bin/env python3
"""Programs in C, C++ and with MPI, compiled as a user would, read what was packed through forebay_read.h.

Usage: programs.py FOREBAY LIBRARY_DIR INCLUDE_DIR:... [MPICC MPIEXEC]
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy

import enzo_tree

HERE = Path(__file__).resolve().parent
FOREBAY, LIBRARIES, INCLUDES, *MPI = sys.argv[1:]


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="forebay-read-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        for step in range(4):
            enzo_tree.write(cls.work / f"DD{step:04}", step)

    def store(self, name, steps=3):
        store = self.work / name
        for step in range(steps):
            self.pack(store, step)
        return store

    def pack(self, store, step):
        run(FOREBAY, "pack", self.work / f"DD{step:04}", "--store", store)

    def compiled(self, source, compiler, *flags):
        program = self.work / f"{Path(source).stem}-{Path(compiler).name}"
        includes = [f"-I{directory}" for directory in INCLUDES.split(":")]
        run(compiler, "-Wall", "-Wextra", "-Werror", *flags, *includes, HERE / source, "-o", program, f"-L{LIBRARIES}",
            f"-Wl,-rpath,{LIBRARIES}", "-lforebay_read", "-lforebay")
        return program

    def plane(self, store, *words):
        out = self.work / "rows"
        out.unlink(missing_ok=True)
        run(*words, store, "Density", 5, out)
        return numpy.fromfile(out).reshape(enzo_tree.SHAPE[:2])

    def test_contract(self):
        store = self.store("contract")
        # The frame of Density is two thirds of the container's, so that this byte is its wherever it lies among them.
        container, = json.loads(run(FOREBAY, "info", store, "DD0001", "--json"))["containers"]
        path = Path(container["path"])
        damaged = bytearray(path.read_bytes())
        damaged[(len(damaged) - container["index_bytes"]) * 3 // 4] ^= 1
        path.chmod(0o600)
        path.write_bytes(damaged)
        run(self.compiled("contract.c", "cc", "-std=c99", "-pedantic"), store)

    def test_plane(self):
        store = self.store("plane", steps=2)
        expected = enzo_tree.field(1)[:, :, 5]
        numpy.testing.assert_array_equal(self.plane(store, self.compiled("plane.c", "cc", "-std=c99")), expected)
        if not MPI:
            self.skipTest("no MPI")
        parallel = self.compiled("plane.c", MPI[0], "-DWITH_MPI")
        for ranks in (1, 5):
            numpy.testing.assert_array_equal(self.plane(store, MPI[1], "-n", ranks, parallel), expected)

    def test_query(self):
        store = self.store("query")
        program = self.compiled("query.c", "cc", "-std=c99", "-pedantic")
        where = numpy.argwhere(enzo_tree.field(1) > 0.999)
        self.assertTrue(0 < len(where) < 200)
        lines = run(program, store, "Density > 0.999 and Level < 3", 1).splitlines()
        found = [line.split() for line in lines[:-1] if line.startswith("1 ")]
        self.assertEqual([[f"{i}+1" for i in at] for at in where.tolist()],
                         sorted(([*line[4:7]] for line in found), key=lambda at: [int(i[:-2]) for i in at]))
        for line in found:
            self.assertGreater(float(line[7]), 0.999)
            self.assertEqual("DD0001", line[1])
        by_index = run(program, store, "Density > 0.999").splitlines()
        self.assertTrue(by_index[0].endswith("perhaps"), by_index[0])
        self.assertIn("bytes 0/", by_index[-1])
        self.assertIn("code 1: at character 11", run(program, store, "Density > > 1"))
        self.assertIn("code 4: step", run(program, store, "Densty > 1"))

    def test_query_by_the_wrapper(self):
        store = self.store("wrapper")
        program = self.compiled("query.cc", "c++", "-std=c++14")
        where = numpy.argwhere(enzo_tree.field(1) > 0.999)
        lines = [line.split() for line in run(program, store, "Density > 0.999", 1).splitlines() if line.startswith("1 ")]
        self.assertEqual(sorted(where.tolist()), sorted([int(at.split("+")[0]) for at in line[2:5]] for line in lines))
        self.assertIn("code 1: at character 11", run(program, store, "Density > > 1", 0))

    def test_query_with_a_layout(self):
        tree, store, layout = self.work / "blocks", self.work / "layout", self.work / "layout.toml"
        tree.mkdir()
        for rank in range(2):
            with h5py.File(tree / f"rank{rank}.h5", "w") as file:
                file["heat"] = numpy.arange(6.0).reshape(2, 3) + 10 * rank
        run(FOREBAY, "pack", tree, "--store", store)
        program = self.compiled("query.cc", "c++", "-std=c++14")
        layout.write_text('[[array]]\nname = "heat"\nvariables = "/heat"\nranks = [2, 1]\n')
        self.assertEqual("0 blocks 3+1 2+1 15\n", run(program, store, "heat > 14", 1, layout))
        layout.write_text("[[array]]\nnames = 1\n")
        self.assertRegex(run(program, store, "heat > 14", 1, layout), "^code 1: .*line 2")

    def test_command(self):
        """Any selection by the command is the same selection of the assembled array."""
        store = self.store("command")
        out = self.work / "values.npy"
        whole = numpy.stack([enzo_tree.field(step) for step in range(3)])
        random = numpy.random.default_rng(7)
        for _ in range(12):
            first = random.integers(0, 3)
            ranges = [sorted(random.choice(n + 1, 2, replace=False)) for n in enzo_tree.SHAPE]
            stride = random.integers(1, 4, 3)
            run(FOREBAY, "read", store, "Density", "--step", f"{first}:", "--box", ",".join(f"{a}:{b}" for a, b in ranges),
                "--stride", ",".join(map(str, stride)), "--to", out, "--overwrite")
            box = tuple(slice(a, b, s) for (a, b), s in zip(ranges, stride))
            numpy.testing.assert_array_equal(numpy.load(out), whole[(slice(first, None), *box)])
        points = [[random.integers(0, n) for n in enzo_tree.SHAPE] for _ in range(40)]
        (self.work / "points.txt").write_text("# z y x\n" + "".join(f"{z}, {y} {x}\n" for z, y, x in points))
        run(FOREBAY, "read", store, "Density", "--step", "0:2", "--points", self.work / "points.txt", "--to",
            self.work / "values.csv")
        lines = (self.work / "values.csv").read_text().splitlines()
        self.assertEqual("step,index0,index1,index2,value", lines[0])
        expected = [f"{step},{z},{y},{x},{float(whole[step, z, y, x])!r}" for step in (0, 1) for z, y, x in points]
        self.assertEqual(expected, lines[1:])
        blocks = json.loads(run(FOREBAY, "read", store, "mass", "--blocks", "--json"))["blocks"]
        self.assertEqual([[rank + 1] for rank in range(6)], [block["shape"] for block in blocks])

    def test_memory(self):
        """What does not fit into the memory is read and written in parts."""
        store, out = self.work / "large", self.work / "large.npy"
        values = numpy.sin(numpy.arange(10 << 20) * 1e-3).reshape(160, 256, 256)
        (self.work / "one").mkdir()
        numpy.save(self.work / "one/field.npy", values)
        run(FOREBAY, "pack", self.work / "one", "--store", store, "--profile", "fast")
        arrays = json.loads(run(FOREBAY, "read", store, "--json"))["arrays"]
        # What a process has of its parent counts as its own memory: a small parent stands between.
        measured = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
                    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        kib = run(sys.executable, "-c", measured, FOREBAY, "read", store, arrays[0]["name"], "--memory", "64M", "--to", out)
        self.assertLess(int(kib), 64 << 10)
        numpy.testing.assert_array_equal(numpy.load(out), values)

    def test_follow(self):
        store = self.store("follow", steps=1)
        program = self.compiled("follow.cc", "c++", "-std=c++14")
        with subprocess.Popen([program, store, "Density", "3"], stdout=subprocess.PIPE, text=True) as process:
            for step in range(3):
                name, total = process.stdout.readline().split()
                self.assertEqual(f"DD{step:04}", name)
                self.assertAlmostEqual(enzo_tree.field(step).sum(), float(total), places=9)
                if step < 2:
                    self.pack(store, step + 1)
            self.assertEqual(0, process.wait(60))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
