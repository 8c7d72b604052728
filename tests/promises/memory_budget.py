#!/usr/bin/env python3
"""Promise: the stated memory budget holds. The peak of resident memory is what the kernel says.

Usage: memory_budget.py FOREBAY [Some | ManyVariables]
"""

import os
import subprocess
import unittest

from promise import PromiseTest, differences, main, snapshot

try:
    import h5py
    import numpy
except ImportError:
    numpy = None

MIB = 1 << 20


@unittest.skipIf(numpy is None, "python3-h5py or python3-numpy is not installed")
class Budget(PromiseTest):
    def within(self, budget_mib, *words):
        answer = self.ok(*words, "--memory", f"{budget_mib}M")
        print(f"{words[0]}: peak {answer.peak_bytes / MIB:.1f} MiB of {budget_mib} MiB", flush=True)
        self.assertLessEqual(answer.peak_bytes, budget_mib * MIB, words)

    def cycle(self, tree, budget_mib, *words):
        before = snapshot(tree)
        target = self.work / "restored"
        self.within(budget_mib, "pack", tree, "--store", self.store, "--name", "set", *words)
        self.within(budget_mib, "verify", self.store, "set")
        self.within(budget_mib, "restore", "set", "--store", self.store, "--to", target)
        self.assertEqual([], differences(before, snapshot(target)))
        subprocess.run(["rm", "-rf", self.store, target], check=True)


class Some(Budget):
    def setUp(self):
        super().setUp()
        self.tree = self.work / "tree"
        self.tree.mkdir()
        generator = numpy.random.default_rng(1)
        for rank in range(8):
            values = numpy.cumsum(generator.normal(size=(320, 128, 120)), axis=2).astype("<f8")
            numpy.save(self.tree / f"dump.{rank}.npy", values)  # 39 MB each

    def test_arrays(self):
        for words in ([], ["--profile", "max"], ["--profile", "none"], ["--scheme", "agnostic-block", "--profile", "gzip"]):
            with self.subTest(words=words):
                self.cycle(self.tree, 128, *words)

    def test_arrays_with_many_threads(self):
        self.cycle(self.tree, 128, "--threads", "16")

    def test_the_smallest_budget(self):
        self.cycle(self.tree, 64)


class ManyVariables(Budget):
    def test_many_variables(self):
        tree = self.work / "tree"
        tree.mkdir()
        generator = numpy.random.default_rng(2)
        values = generator.normal(size=1152)
        for rank in range(8):
            with h5py.File(tree / f"dump.{rank}.h5", "w") as file:
                for number in range(8900):
                    file.create_dataset(f"Grid{number // 20:08}/field{number % 20}", data=values + number)
        self.cycle(tree, 128)


if __name__ == "__main__":
    main()
