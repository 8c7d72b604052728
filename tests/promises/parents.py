#!/usr/bin/env python3
"""Promise: sets that refer to others stay restorable one by one, and a parent that is missing or damaged is named.

Usage: parents.py FOREBAY. The archives are those of $FOREBAY_DATA, else ../shared/data.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from promise import DAMAGED, OK, SKIP, SOURCE, PromiseTest, differences, flip, forebay, main, snapshot

ARCHIVES = sorted(Path(os.environ.get("FOREBAY_DATA", SOURCE.parent / "shared" / "data")).glob("implosion*.tar.zst"))


class Bases(PromiseTest):
    """The steps of one run, then its last step once more: what an unchanged phase of a run looks like."""

    @classmethod
    def setUpClass(cls):
        cls.data = tempfile.TemporaryDirectory(prefix="forebay-data-")
        cls.addClassCleanup(cls.data.cleanup)
        for archive in ARCHIVES:
            subprocess.run(["tar", "--zstd", "-xf", archive, "-C", cls.data.name], check=True)
        cls.trees = sorted({p.parent for p in Path(cls.data.name).rglob("*.cpu0000")}, key=lambda p: p.name)

    def setUp(self):
        super().setUp()
        self.packed = {}
        for step, tree in enumerate([*self.trees, self.trees[-1]]):
            name = f"step{step}"
            self.ok("pack", tree, "--store", self.store, "--name", name, "--parent", "latest", "--group-size", "16")
            self.packed[name] = snapshot(tree)
        self.base, self.dependant = list(self.packed)[-2:]

    def check_restore(self, name, *words):
        target = self.work / "restored"
        self.ok("restore", name, "--store", self.store, "--to", target, *words)
        self.assertEqual([], differences(self.packed[name], snapshot(target)), name)
        shutil.rmtree(target)

    def test_each_set_comes_back_and_prune_keeps_bases(self):
        for name in self.packed:
            self.check_restore(name)
        sets = {s["name"]: s for s in json.loads(self.ok("ls", self.store, "--json").out)["sets"]}
        self.assertEqual([self.base], [b["name"] for b in sets[self.dependant]["parents"]])
        self.assertLess(sets[self.dependant]["stored_bytes"], sets[self.base]["stored_bytes"] / 4)
        pruned = json.loads(self.ok("prune", self.store, "--keep-last", "1", "--json").out)
        self.assertEqual([self.base], [n["name"] for n in pruned["needed"]])
        self.assertEqual({self.base, self.dependant}, set(pruned["kept"]))
        self.check_restore(self.dependant)

    def test_a_base_that_is_gone_is_named(self):
        shutil.rmtree(self.store / "sets" / self.base)
        answer = forebay("restore", self.dependant, "--store", self.store, "--to", self.work / "x")
        self.assertEqual(DAMAGED, answer.code)
        self.assertIn(f"of {self.base}/", answer.err)
        self.assertIn("is missing", answer.err)
        answer = self.ok("restore", "latest", "--store", self.store, "--to", self.work / "y")
        self.assertIn(f"of {self.base}/", answer.err)
        self.assertEqual([], differences(self.packed["step1"], snapshot(self.work / "y")))

    def test_a_flipped_bit_in_the_base_is_reported_for_both(self):
        chance = random.Random(11)
        for _ in range(10):
            path = chance.choice(self.containers(self.base))
            offset, bit = chance.randrange(path.stat().st_size), chance.randrange(8)
            flip(path, offset, bit)
            with self.subTest(file=path.name, offset=offset, bit=bit):
                sets = {s["name"]: s for s in json.loads(forebay("verify", self.store, "--json").out)["sets"]}
                self.assertFalse(sets[self.base]["intact"])
                self.assertEqual([self.dependant], sets[self.base]["dependants"])
                for damage in sets[self.dependant]["damages"]:
                    self.assertIn(f"of {self.base}/{path.name}", damage["message"])
                answer = forebay("restore", self.dependant, "--store", self.store, "--to", self.work / "x")
                self.assertEqual(OK if sets[self.dependant]["intact"] else DAMAGED, answer.code)
            shutil.rmtree(self.work / "x", ignore_errors=True)
            flip(path, offset, bit)
        self.ok("verify", self.store)


if __name__ == "__main__":
    if not ARCHIVES:
        print("skipped: no archives of the implosion in $FOREBAY_DATA or ../shared/data")
        sys.exit(SKIP)
    main()
