#!/usr/bin/env python3
"""Promise: a restore never leaves its target directory, whatever names a container has and whatever links lie about.

Usage: confinement.py FOREBAY HOSTILE_NAMES
"""

import json
import os
import subprocess
import sys

from promise import DAMAGED, EXISTS, OK, PromiseTest, differences, forebay, main, snapshot

HOSTILE_NAMES = sys.argv.pop(2)


class Confinement(PromiseTest):
    def setUp(self):
        super().setUp()
        self.tree = self.work / "tree"
        self.outside = self.work / "outside"
        self.target = self.work / "target"
        self.outside.mkdir()
        (self.outside / "precious").write_text("precious")
        (self.work / "before").mkdir()
        (self.work / "before" / "file").write_text("good")
        (self.tree / "dir").mkdir(parents=True)
        (self.tree / "dir" / "file").write_text("evil")
        (self.tree / "other").write_text("fine")
        os.symlink(self.outside, self.tree / "link")

    def pack(self):
        self.ok("pack", self.work / "before", "--store", self.store)
        self.ok("pack", self.tree, "--store", self.store, "--name", "set")

    def rename(self, *names):
        """Gives files of the packed container other names, with all checksums right."""
        subprocess.run([HOSTILE_NAMES, self.store / "sets" / "set", *map(os.fspath, names)], check=True)

    def refused(self, *words):
        before = snapshot(self.outside)
        answer = forebay("restore", "set", "--store", self.store, "--to", self.target, *words)
        self.assertNotEqual(OK, answer.code, answer.out)
        self.assertGreater(answer.code, 0, "a crash")
        self.assertEqual([], differences(before, snapshot(self.outside)))
        return answer

    def refused_by_all(self, name):
        """What cannot be restored is not intact, and the set before takes its place."""
        self.assertEqual(DAMAGED, self.refused().code)
        self.assertEqual([], [p for p in self.target.rglob("*") if not p.is_dir()] if self.target.exists() else [])
        report = forebay("verify", self.store, "set", "--json")
        self.assertEqual(DAMAGED, report.code)
        (damage,) = json.loads(report.out)["sets"][0]["damages"]
        self.assertEqual([name], damage["files"])
        repaired = forebay("repair", self.store, "set", "--json")
        self.assertEqual((DAMAGED, None), (repaired.code, json.loads(repaired.out)["repaired_set"]), "no repair helps")
        self.assertIn(name, json.loads(repaired.out)["lost_files"][0])
        back = self.ok("restore", "latest", "--store", self.store, "--to", self.work / "back", "--json")
        self.assertEqual("before", json.loads(back.out)["set"])

    def test_renaming_helper(self):
        """The helper makes containers that are right but for the names: harmless ones restore."""
        self.pack()
        self.rename("dir/file", "dir/another")
        self.ok("verify", self.store, "set")
        self.ok("restore", "set", "--store", self.store, "--to", self.target)
        self.assertEqual("evil", (self.target / "dir" / "another").read_text())

    def test_names_that_lead_out(self):
        for name in ["../outside/new", "..", "/" + str(self.outside).lstrip("/") + "/new", "dir/../../outside/new", "",
                     "a//b", "./new", "dir/.", "new/", "/"]:
            with self.subTest(name=name):
                self.pack()
                self.rename("dir/file", name)
                self.assertEqual(DAMAGED, self.refused().code)
                for words in (["verify", self.store, "set"], ["ls", self.store, "set"]):
                    self.assertEqual(DAMAGED, forebay(*words).code, words)
                subprocess.run(["rm", "-rf", self.store], check=True)

    def test_a_file_below_a_link_of_the_set(self):
        self.pack()
        self.rename("dir/file", "link/new")
        self.refused_by_all("link/new")

    def test_two_files_of_one_name(self):
        self.pack()
        self.rename("dir/file", "other")
        self.refused_by_all("other")

    def test_a_file_below_a_file(self):
        self.pack()
        self.rename("dir/file", "other/new")
        self.refused_by_all("other/new")

    def test_an_index_unfolds_to_no_more_than_its_bytes_can_hold(self):
        """Columns of zeros take no bytes: 56 million variables in an index of a few hundred took 2.3 GB."""
        self.pack()
        subprocess.run([HOSTILE_NAMES, self.store / "sets" / "set", "--variables", "56000000"], check=True)
        (container,) = self.containers("set")
        self.assertLess(container.stat().st_size, 10_000)
        for words in (["ls", self.store, "set"], ["info", self.store, "set"], ["verify", self.store, "set"],
                      ["verify", self.store], ["restore", "set", "--store", self.store, "--to", self.target]):
            answer = forebay(*words, "--memory", "16G")
            self.assertEqual(DAMAGED, answer.code, answer.err)
            self.assertIn("unfold", answer.out + answer.err)
            self.assertLess(answer.peak_bytes, 128 << 20, words)

    def test_links_in_the_target_are_not_followed(self):
        self.pack()
        self.target.mkdir()
        os.symlink(self.outside, self.target / "dir")
        self.refused()
        self.refused("--overwrite")

    def test_a_link_in_place_of_a_file_is_replaced_not_followed(self):
        self.pack()
        self.target.mkdir()
        os.symlink(self.outside / "precious", self.target / "other")
        self.assertEqual(EXISTS, self.refused().code)
        before = snapshot(self.outside)
        self.ok("restore", "set", "--store", self.store, "--to", self.target, "--overwrite")
        self.assertEqual([], differences(before, snapshot(self.outside)))
        self.assertFalse((self.target / "other").is_symlink())
        self.assertEqual("fine", (self.target / "other").read_text())

    def test_links_of_the_set_come_back_as_links(self):
        self.pack()
        self.ok("restore", "set", "--store", self.store, "--to", self.target)
        self.assertEqual(str(self.outside), os.readlink(self.target / "link"))
        self.assertEqual(["precious"], os.listdir(self.outside))

    def test_nothing_is_replaced_unasked(self):
        self.pack()
        self.target.mkdir()
        (self.target / "other").write_text("mine")
        self.assertEqual(EXISTS, self.refused().code)
        self.assertEqual("mine", (self.target / "other").read_text())
        self.assertEqual(["other"], os.listdir(self.target), "nothing new may stay")


if __name__ == "__main__":
    main()
