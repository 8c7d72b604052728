#!/usr/bin/env python3
"""Promise: the stated memory budget holds. The peak of resident memory is what the kernel says.

Usage: memory_budget.py FOREBAY [Some | ManyContainers | ManyVariables]

The trees are made by processes of their own: the kernel counts what a process had before exec() as its peak, too, so
this one must stay smaller than the command.
"""

import filecmp
import importlib.util
import os
import subprocess
import sys
import unittest

from promise import COMMAND, DIFFERENT, OK, PromiseTest, differences, forebay, main, snapshot

MIB = 1 << 20

ARRAYS = """
import numpy, sys
generator = numpy.random.default_rng(1)
for rank in range(5):
    values = numpy.cumsum(generator.normal(size=(320, 128, 120)), axis=2).astype("<f8")
    numpy.save(f"{sys.argv[1]}/dump.{rank}.npy", values)  # 39 MB each
"""

LARGE = """
import numpy, sys
values = numpy.cumsum(numpy.random.default_rng(4).normal(size=(96, 256, 512)), axis=2)
numpy.save(f"{sys.argv[1]}/dump.0.npy", values)  # 101 MB
"""

COMPANIONS = """
import numpy, sys
generator = numpy.random.default_rng(3)
for rank in range(4):
    density, speed = generator.uniform(1, 2, size=(2, 64, 128, 120))
    numpy.savez(f"{sys.argv[1]}/dump.{rank}.npz", density=density, speed=speed, hydrogen=0.76 * density,
                energy=3e-5 * density + 0.5 * speed * speed)  # 8 MB each
"""

MANY_VARIABLES = """
import h5py, numpy, sys
values = numpy.random.default_rng(2).normal(size=1152)
for rank in range(8):
    with h5py.File(f"{sys.argv[1]}/dump.{rank}.h5", "w") as file:
        for number in range(8900):
            file.create_dataset(f"Grid{number // 20:08}/field{number % 20}", data=values + number)
"""

# Files of 10,000 variables. In the second tree one file has another value in the first and the last of them.
MANY_CONTAINERS = """
import json, numpy, struct, sys
COUNT, VALUES = 10000, 16
header = json.dumps({f"Grid{i // 20:08}/field{i % 20}": {"dtype": "F64", "shape": [4, 4],
                     "data_offsets": [8 * VALUES * i, 8 * VALUES * (i + 1)]} for i in range(COUNT)}).encode()
header += b" " * (-len(header) % 8)
generator = numpy.random.default_rng(1)
for rank in range(32):
    values = numpy.round(generator.normal(size=COUNT * VALUES), 3)
    if sys.argv[1].endswith("changed") and rank == 17:
        values[0] += 1
        values[-1] += 2
    with open(f"{sys.argv[1]}/rank.{rank:05}.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + values.tobytes())
"""


@unittest.skipUnless(importlib.util.find_spec("h5py") and importlib.util.find_spec("numpy"),
                     "python3-h5py or python3-numpy is not installed")
class Budget(PromiseTest):
    def make_tree(self, script, name="tree"):
        tree = self.work / name
        tree.mkdir()
        subprocess.run([sys.executable, "-c", script, tree], check=True)
        return tree

    def within(self, budget_mib, *words, code=OK):
        answer = forebay(*words, "--memory", f"{budget_mib}M")
        self.assertEqual(code, answer.code, f"{words}: {answer.err}")
        print(f"{words[0]} {' '.join(map(str, words[-2:]))}: peak {answer.peak_bytes / MIB:.1f} of {budget_mib} MiB", flush=True)
        self.assertLessEqual(answer.peak_bytes, budget_mib * MIB, words)
        return answer

    def cycle(self, tree, budget_mib, *words):
        before = snapshot(tree)
        target = self.work / "restored"
        try:
            self.within(budget_mib, "pack", tree, "--store", self.store, "--name", "set", *words)
            self.within(budget_mib, "verify", self.store, "set")
            self.within(budget_mib, "restore", "set", "--store", self.store, "--to", target)
            self.assertEqual([], differences(before, snapshot(target)))
        finally:
            subprocess.run(["rm", "-rf", self.store, target], check=True)


class Some(Budget):
    def test_arrays(self):
        tree = self.make_tree(ARRAYS)
        for budget, words in ((128, []), (128, ["--profile", "max"]), (128, ["--profile", "none"]),
                              (128, ["--scheme", "agnostic-block", "--profile", "gzip"]), (128, ["--threads", "16"]),
                              (64, [])):
            with self.subTest(budget=budget, words=words):
                self.cycle(tree, budget, *words)

    def test_variables_predicted_from_others(self):
        tree = self.make_tree(COMPANIONS)
        for budget, words in ((64, []), (128, ["--group-size", "1", "--threads", "8"])):
            with self.subTest(budget=budget, words=words):
                self.cycle(tree, budget, "--profile", "max", *words)

    def test_a_variable_larger_than_the_budget_is_extracted(self):
        tree = self.make_tree(LARGE)
        for scheme in ("aware", "agnostic-block"):
            self.ok("pack", tree, "--store", self.store, "--name", scheme, "--scheme", scheme, "--profile", "fast")
            target = self.work / "extracted.npy"
            self.within(64, "extract", scheme, "*", "--store", self.store, "--overwrite", "--to", target)
            self.assertTrue(filecmp.cmp(tree / "dump.0.npy", target, shallow=False), scheme)


class ManyContainers(Budget):
    """What was packed within a budget can be read within it, however many containers there are."""

    BUDGET, FILES, VARIABLES = 64, 32, 10000

    def setUp(self):
        super().setUp()
        self.tree = self.pack("first")

    def pack(self, name):
        tree = self.make_tree(MANY_CONTAINERS, name)
        self.within(self.BUDGET, "pack", tree, "--store", self.store, "--group-size", "1", "--profile", "fast")
        return tree

    def test_all_that_reads(self):
        before = snapshot(self.tree)
        self.within(self.BUDGET, "restore", "first", "--store", self.store, "--to", self.work / "all")
        self.assertEqual([], differences(before, snapshot(self.work / "all")))
        name = "rank.00017.safetensors"
        self.within(self.BUDGET, "restore", "first", "--store", self.store, "--to", self.work / "one", "--only", name)
        self.assertEqual([], differences({name.encode(): before[name.encode()]}, snapshot(self.work / "one")))

        self.assertIn(f"{self.FILES} files", self.within(self.BUDGET, "info", self.store, "first").out)
        self.assertEqual(1 + self.FILES, len(self.within(self.BUDGET, "ls", self.store, "first").out.splitlines()))
        self.within(self.BUDGET, "extract", "first", "*/field7", "--store", self.store, "--rank", "31", "--to", self.work / "x")
        self.assertEqual(self.VARIABLES // 20, len(list((self.work / "x").iterdir())))
        self.pack("changed")
        told = self.within(self.BUDGET, "diff", "first", "changed", "--store", self.store, code=DIFFERENT).out
        self.assertEqual([f"* {name}", "    /Grid00000000/field0: 1 differing element, by up to 1",
                          "    /Grid00000499/field19: 1 differing element, by up to 2"],
                         [line for line in told.splitlines() if not line.startswith("~")])  # the times differ

    def test_lists_of_all_variables(self):
        for words, line in ((["-v"], b"/Grid"), (["-v", "--json"], b'"name": "/Grid')):
            with self.subTest(words=words), open(self.work / "list", "wb") as list_file:
                # What is printed is too much to be read here: it would count as the next command's memory.
                command = [COMMAND, "ls", self.store, "first", *words, "--memory", f"{self.BUDGET}M"]
                process = subprocess.Popen(command, stdout=list_file)
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                self.assertEqual(OK, process.returncode)
                self.assertLessEqual(usage.ru_maxrss * 1024, self.BUDGET * MIB, words)
                with open(self.work / "list", "rb") as list_file:
                    self.assertEqual(self.FILES * self.VARIABLES, sum(line in one for one in list_file))


class ManyVariables(Budget):
    def test_many_variables(self):
        self.cycle(self.make_tree(MANY_VARIABLES), 128)


if __name__ == "__main__":
    main()
