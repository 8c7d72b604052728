#!/usr/bin/env python3
"""Promise: real checkpoint sets come back byte for byte, with mode and time, under every scheme and profile.

Usage: real_sets.py FOREBAY [Some | Every]. The archives are those of $FOREBAY_DATA, else ../shared/data.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from promise import PROFILES, SCHEMES, SKIP, SOURCE, PromiseTest, differences, main, snapshot

ARCHIVES = sorted(Path(os.environ.get("FOREBAY_DATA", SOURCE.parent / "shared" / "data")).glob("*.tar.zst"))


class RealSets(PromiseTest):
    def sets(self, names=""):
        """Unpacks one archive after the other and yields its set."""
        for archive in ARCHIVES:
            if not archive.name.startswith(names):
                continue
            with tempfile.TemporaryDirectory(prefix="forebay-data-") as directory:
                subprocess.run(["tar", "--zstd", "-xf", archive, "-C", directory], check=True)
                tree = next(p for p in Path(directory).rglob("*") if p.is_file()).parent
                yield archive.name, tree


class Some(RealSets):
    def test_each_profile_and_each_scheme_on_one_set(self):
        for _, tree in self.sets("implosion_p32_64r-DD0010"):
            for profile in PROFILES:
                self.comes_back(tree, "--profile", profile)
            for scheme in SCHEMES:
                self.comes_back(tree, "--profile", "fast", "--scheme", scheme)
            for group_size in 1, 7, 64:
                self.comes_back(tree, "--profile", "fast", "--group-size", group_size)

    def test_the_steps_of_a_run_in_one_store_at_most_effort(self):
        packed = {}
        for _, tree in self.sets("cosmology"):
            self.ok("pack", tree, "--store", self.store, "--profile", "max", "--group-size", "16")
            packed[tree.name] = snapshot(tree)
        for name, before in packed.items():
            target = self.work / "restored"
            self.ok("restore", name, "--store", self.store, "--to", target)
            self.assertEqual([], differences(before, snapshot(target)), name)
            shutil.rmtree(target)
            relations = json.loads(self.ok("info", self.store, name, "--relations", "--json").out)["relations"]
            self.assertGreater(len(relations), 3, name)
        self.ok("verify", self.store)

    def test_each_set_by_default(self):
        for name, tree in self.sets():
            with self.subTest(set=name):
                self.comes_back(tree)


class Every(RealSets):
    def test_every_set_under_every_scheme_and_every_profile(self):
        """Six packs a set. Each set meets every scheme and every profile, and with five sets or more each pair is met."""
        for number, (name, tree) in enumerate(self.sets()):
            for turn, profile in enumerate(PROFILES):
                scheme = SCHEMES[(number + turn) % len(SCHEMES)]
                with self.subTest(set=name, scheme=scheme, profile=profile):
                    self.comes_back(tree, "--scheme", scheme, "--profile", profile)

    def test_every_set_in_groups_of_one_and_all(self):
        for name, tree in self.sets():
            for group_size in 1, 64:
                with self.subTest(set=name, group_size=group_size):
                    self.comes_back(tree, "--profile", "fast", "--group-size", group_size)
                    self.comes_back(tree, "--profile", "fast", "--group-size", group_size, "--block-size", 4096,
                                    "--scheme", "aware-block")


if __name__ == "__main__":
    if not ARCHIVES:
        print("skipped: no archives of real sets in $FOREBAY_DATA or ../shared/data")
        sys.exit(SKIP)
    main()
