#!/usr/bin/env python3
"""forebay remove: sets go by their names, and none that another one needs, unless that stores what it needs itself.

Usage: remove.py FOREBAY
"""

import fcntl
import os
import random
import shutil
import struct
import sys
import unittest

from support import DAMAGED, EXISTS, FAILED, NOT_FOUND, OK, USAGE, StoreTest, flip, forebay, snapshot

GET_FLAGS, SET_FLAGS, IMMUTABLE = 0x80086601, 0x40086602, 0x10


class Removing(StoreTest):
    def names(self):
        return [one["name"] for one in self.run_ok("ls", self.store, "--json").json["sets"]]

    def pack_on(self, name, *parent):
        self.pack("--name", name, "--group-size", "2", *(("--parent", *parent) if parent else ()))

    def check_restores(self, *names):
        for name in names:
            back = self.work / f"back-{name}"
            shutil.rmtree(back, ignore_errors=True)
            self.run_ok("restore", name, "--store", self.store, "--to", back)
            self.assertEqual(snapshot(self.tree), snapshot(back), name)

    def test_sets_go_by_name(self):
        for name in "abc":
            self.pack_on(name)
        self.assertEqual("would remove a\nwould remove b\n", self.run_ok("remove", self.store, "a", "b", "--dry-run").out)
        self.assertEqual(["a", "b", "c"], self.names())
        self.assertEqual("removed a\nremoved b\n", self.run_ok("remove", self.store, "b", "a").out)
        self.assertEqual(["c"], self.names())
        self.run_error(NOT_FOUND, "remove", self.store, "a")
        self.run_error(NOT_FOUND, "remove", self.store, "latest")
        self.run_error(USAGE, "remove", self.store)
        self.run_error(NOT_FOUND, "remove", self.store, "c", "b")
        self.assertEqual(["c"], self.names())
        self.assertEqual(["c"], self.run_ok("remove", self.store, "c", "--json").json["removed"])
        self.assertEqual([], os.listdir(self.store / "staging"))

    def test_the_hint_on_a_taken_name_says_how(self):
        self.pack()
        refused = self.run_error(EXISTS, "pack", self.tree, "--store", self.store)
        self.assertIn("forebay remove", refused.err)

    def test_parents_stay(self):
        self.pack_on("a")
        self.pack_on("b", "a")
        self.pack_on("c", "b")
        before = snapshot(self.store)
        refused = self.run_error(USAGE, "remove", self.store, "a")
        self.assertIn("b, c", refused.err)
        self.assertIn("--rebase", refused.err)
        self.assertEqual(before, snapshot(self.store))
        self.run_ok("remove", self.store, "a", "c", "b")
        self.assertEqual([], self.names())

    def test_what_others_need_is_put_into_them(self):
        self.pack_on("a")
        self.pack_on("b", "a")
        shutil.copyfile(self.tree / "dump.cpu0000.npy", self.tree / "dump.cpu0004.npy")
        self.pack_on("b2", "b")
        (self.tree / "dump.cpu0004.npy").unlink()
        self.pack_on("c", "b2")
        before = {one["name"]: one for one in self.run_ok("ls", self.store, "--json").json["sets"]}
        dry = self.run_ok("remove", self.store, "a", "--rebase", "--dry-run").out
        self.assertIn("would store b again\n", dry)
        self.assertEqual(list(before), self.names())
        done = self.run_ok("remove", self.store, "a", "--rebase", "--json").json
        self.assertEqual((["a"], []), (done["removed"], done["problems"]))
        self.assertEqual({"b", "b2", "c"}, {one["set"] for one in done["rebased"]})
        self.assertEqual(["b", "b2", "c"], self.names())
        self.run_ok("verify", self.store)
        self.check_restores("b", "c")
        for one in self.run_ok("ls", self.store, "--json").json["sets"]:
            old = before[one["name"]]
            self.assertNotIn("a", [parent["name"] for parent in one["parents"]])
            for key in ("created", "step", "series", "rank_count", "file_count", "raw_bytes", "profile", "scheme"):
                self.assertEqual(old[key], one[key], key)
        self.assertEqual([], os.listdir(self.store / "staging"))

    def test_sets_that_refer_to_a_rebased_one_still_do(self):
        self.pack_on("a")
        noise = random.Random(5)  # which nothing in the set before predicts
        for name in ("dump.cpu0002.npy", "dump.cpu0003.npy"):
            values = (self.tree / name).read_bytes()
            (self.tree / name).write_bytes(values[:128] + noise.randbytes(len(values) - 128))
        self.pack_on("b", "a")
        self.pack_on("c", "b")
        parents = {one["name"]: {parent["name"] for parent in one["parents"]}
                   for one in self.run_ok("ls", self.store, "--json").json["sets"]}
        self.assertEqual({"a": set(), "b": {"a"}, "c": {"a", "b"}}, parents)
        self.run_ok("remove", self.store, "a", "--rebase")
        self.check_restores("b", "c")
        (c,) = [one for one in self.run_ok("ls", self.store, "--json").json["sets"] if one["name"] == "c"]
        self.assertEqual(["b"], [parent["name"] for parent in c["parents"]])

    def test_a_damaged_parent_is_not_copied(self):
        self.pack_on("a")
        self.pack_on("b", "a")
        flip(self.containers("a")[0], self.containers("a")[0].stat().st_size // 2)
        before = snapshot(self.store)
        answer = forebay("remove", self.store, "a", "--rebase")
        self.assertEqual(DAMAGED, answer.code, answer.err)
        self.assertEqual(before, snapshot(self.store))

    def test_damaged_sets_may_go_and_keep_their_parents(self):
        self.pack_on("a")
        self.pack_on("b", "a")
        flip(self.store / "sets/b/manifest", 100)
        self.run_error(USAGE, "remove", self.store, "a", "--rebase")
        self.run_ok("remove", self.store, "b")
        self.run_ok("remove", self.store, "a")

    def test_what_is_not_ours_stays(self):
        self.pack_on("a")
        (self.store / "sets/a/notes.txt").write_text("mine")
        (self.store / "sets/mine").mkdir()
        (self.store / "sets/mine/thesis.tex").write_text("mine")
        before = snapshot(self.store / "sets")
        for name in ("a", "mine"):
            answer = forebay("remove", self.store, name)
            self.assertEqual(EXISTS, answer.code, answer.err)
        self.pack_on("b")
        answer = forebay("prune", self.store, "--keep-last", "1")
        self.assertIn("notes.txt", answer.err)
        shutil.rmtree(self.store / "sets/b")
        self.assertEqual(before, snapshot(self.store / "sets"))

    def test_ls_marks_sets_whose_parents_are_missing(self):
        self.pack_on("a")
        self.pack_on("b", "a")
        self.assertNotIn("NOTE", self.run_ok("ls", self.store).out)
        shutil.rmtree(self.store / "sets/a")
        self.assertRegex(self.run_ok("ls", self.store).out, r"(?m)^b .* DAMAGED: a gone$")
        (b,) = self.run_ok("ls", self.store, "--json").json["sets"]
        self.assertEqual(["a"], b["missing_parents"])
        self.pack_on("a")  # another one of the name is none to restore from
        self.assertRegex(self.run_ok("ls", self.store).out, r"(?m)^b .* DAMAGED: a gone$")

    def test_files_that_cannot_be_deleted_are_told(self):
        for name in "ab":
            self.pack_on(name)
        victim = self.containers("a")[0]
        with open(victim, "rb") as file:
            flags = bytearray(8)
            try:
                fcntl.ioctl(file, GET_FLAGS, flags)
                held = struct.pack("L", struct.unpack("L", flags)[0] | IMMUTABLE)
                fcntl.ioctl(file, SET_FLAGS, held)
            except OSError as error:
                self.skipTest(f"files cannot be made immutable here: {error}")
            try:
                answer = forebay("prune", self.store, "--keep-last", "1")
                self.assertEqual(FAILED, answer.code, answer.err)
                self.assertNotIn("Not a directory", answer.err)
                self.assertIn("a is removed, but some of its files could not be deleted", answer.err)
                self.assertIn("removed a\n1 set removed, 1 kept\n", answer.out)
                self.assertEqual(["b"], self.names())
            finally:
                fcntl.ioctl(file, SET_FLAGS, bytes(flags))
        self.pack_on("c")
        self.assertEqual([], os.listdir(self.store / "staging"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
