#!/usr/bin/env python3
"""Promise: the stated memory budget holds. The peak of resident memory is what the kernel says.

Usage: memory_budget.py FOREBAY [Some | ManyVariables]

The trees are made by processes of their own: the kernel counts what a process had before exec() as its peak, too, so
this one must stay smaller than the command.
"""

import filecmp
import importlib.util
import subprocess
import sys
import unittest

from promise import PromiseTest, differences, main, snapshot

MIB = 1 << 20

ARRAYS = """
import numpy, sys
generator = numpy.random.default_rng(1)
for rank in range(8):
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


@unittest.skipUnless(importlib.util.find_spec("h5py") and importlib.util.find_spec("numpy"),
                     "python3-h5py or python3-numpy is not installed")
class Budget(PromiseTest):
    def make_tree(self, script):
        tree = self.work / "tree"
        tree.mkdir()
        subprocess.run([sys.executable, "-c", script, tree], check=True)
        return tree

    def within(self, budget_mib, *words):
        answer = self.ok(*words, "--memory", f"{budget_mib}M")
        print(f"{words[0]} {' '.join(map(str, words[-2:]))}: peak {answer.peak_bytes / MIB:.1f} of {budget_mib} MiB", flush=True)
        self.assertLessEqual(answer.peak_bytes, budget_mib * MIB, words)

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


class ManyVariables(Budget):
    def test_many_variables(self):
        self.cycle(self.make_tree(MANY_VARIABLES), 128)


if __name__ == "__main__":
    main()
