#!/usr/bin/env python3
"""Promise: one flipped bit anywhere in a store is reported, with file and frame, and never returned as data.

Every bit of a small store in one process is engine_test's matter; here the command is asked, for one bit of each run of four
bytes.
Usage: flipped_bits.py FOREBAY
"""

import json
import os
import random
import struct
import subprocess

from promise import DAMAGED, OK, PromiseTest, differences, flip, forebay, main, snapshot


def npy(values):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}d", *values)


class FlippedBits(PromiseTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(5)
        self.target = self.work / "restored"

    def make_set(self, name, ranks, count, *words):
        tree = self.work / name
        tree.mkdir()
        for rank in range(ranks):
            (tree / f"dump.{rank}.npy").write_bytes(npy([self.random.gauss(rank, 1) for _ in range(count)]))
        self.ok("pack", tree, "--store", self.store, "--name", name, *words)
        return snapshot(tree)

    def check_restore(self, name, before):
        """A restore fails, or gives exactly what was packed: some bits, like those of the head, hold no data."""
        answer = forebay("restore", name, "--store", self.store, "--to", self.target)
        if answer.code == OK:
            self.assertEqual([], differences(before, snapshot(self.target)))
        else:
            self.assertEqual(DAMAGED, answer.code, answer.err)
            self.assertFalse([f for f in os.listdir(self.target) if "dump" in f] if self.target.exists() else [])
        subprocess.run(["rm", "-rf", self.target], check=True)
        return answer.code

    def test_every_place_of_a_small_store(self):
        before = self.make_set("small", 2, 12, "--scheme", "aware")
        for path in [p for p in self.store.rglob("*") if p.is_file()]:
            size = path.stat().st_size
            for first in range(0, size, 4):
                offset = self.random.randrange(first, min(first + 4, size))
                bit = self.random.randrange(8)
                flip(path, offset, bit)
                with self.subTest(file=path.name, offset=offset, bit=bit):
                    answer = forebay("verify", self.store, "--json")
                    self.assertNotEqual(OK, answer.code, answer.out)
                    self.assertNotIn(answer.code, (-11, -6), "a crash")
                    if path.suffix == ".fbc":
                        self.assertEqual(DAMAGED, answer.code, answer.err)
                        self.assertIn(path.name, answer.out)
                    if first % 16 == 0:
                        self.check_restore("small", before)
                flip(path, offset, bit)
        self.ok("verify", self.store)

    def test_random_bits_of_a_larger_set(self):
        before = self.make_set("large", 8, 20000, "--group-size", "4", "--profile", "balanced")
        for _ in range(40):
            path = self.random.choice(self.containers("large"))
            offset, bit = self.random.randrange(path.stat().st_size), self.random.randrange(8)
            flip(path, offset, bit)
            with self.subTest(file=path.name, offset=offset, bit=bit):
                answer = forebay("verify", self.store, "large", "--json")
                self.assertEqual(DAMAGED, answer.code, answer.err)
                damages = json.loads(answer.out)
                self.assertIn(path.name, json.dumps(damages))
                self.check_restore("large", before)
            flip(path, offset, bit)

    def test_a_damaged_frame_is_named_with_its_files_and_the_others_restore(self):
        before = self.make_set("set", 4, 40000, "--scheme", "agnostic", "--profile", "none", "--group-size", "1")
        flip(self.containers("set")[2], 100_000, 3)
        answer = forebay("verify", self.store, "set")
        self.assertEqual(DAMAGED, answer.code)
        for word in "00002-of-00004.fbc", "frame 0", "dump.2.npy":
            self.assertIn(word, answer.out + answer.err)
        self.assertEqual(DAMAGED, self.check_restore("set", before))
        self.ok("restore", "set", "--store", self.store, "--to", self.target, "--only", "dump.[013].npy")
        whole = {name: entry for name, entry in before.items() if b"dump.2" not in name}
        self.assertEqual([], differences(whole, snapshot(self.target)))

    def test_latest_falls_back_to_the_newest_intact_set(self):
        before = self.make_set("run1", 2, 500, "--step", "1")
        for step in 2, 3:
            self.make_set(f"run{step}", 2, 500, "--step", step)
        flip(self.containers("run3")[0], self.containers("run3")[0].stat().st_size // 2, 0)
        flip(self.store / "sets" / "run2" / "manifest", 50, 0)
        answer = self.ok("restore", "latest", "--store", self.store, "--to", self.target)
        self.assertEqual([], differences(before, snapshot(self.target)))
        for name in "run2", "run3":
            self.assertIn(name, answer.out + answer.err, "what was skipped is named")


if __name__ == "__main__":
    main()
