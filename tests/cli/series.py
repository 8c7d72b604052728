#!/usr/bin/env python3
"""Sets of several series in one store: each verb looks at one series only, and says so where it cannot know which."""

import unittest

from support import NOT_FOUND, OK, USAGE, StoreTest, forebay, main


class Series(StoreTest):
    def setUp(self):
        super().setUp()
        for name, series in (("a1", None), ("a2", None), ("b1", "other"), ("b9", "other")):
            words = ["--series", series] if series else []
            answer = self.run_ok("pack", self.tree, "--store", self.store, "--name", name, *words, "--json").json
            self.assertEqual(series or "default", answer["series"])

    def restored(self, *words, env=None):
        target = self.work / f"back{len(list(self.work.iterdir()))}"
        answer = forebay("restore", "latest", "--store", self.store, "--to", target, *words, "--json", env=env)
        return answer.json["set"] if answer.code == OK else answer

    def names(self, *words):
        return [one["name"] for one in self.run_ok("ls", self.store, "--json", *words).json["sets"]]

    def test_latest_is_of_one_series(self):
        self.assertEqual("a2", self.restored("--series", "default"))
        self.assertEqual("b9", self.restored("--series", "other"))
        self.assertEqual("b9", self.restored(env={"FOREBAY_SERIES": "other"}))
        self.assertEqual("a2", self.restored("--series=default", env={"FOREBAY_SERIES": "other"}))

    def test_latest_of_several_series_is_an_error_that_names_them(self):
        for verb in (["restore", "--to", self.work / "t"], ["ls"], ["info"], ["verify"], ["extract", "/x", "--to", "-"]):
            words = [verb[0], "latest", *verb[1:], "--store", self.store]
            answer = self.run_error(USAGE, *words)
            for part in ("default (2 sets, the newest is a2)", "other (2 sets, the newest is b9)", "--series"):
                self.assertIn(part, answer.err, words)
        answer = self.run_error(NOT_FOUND, "restore", "latest", "--series", "othr", "--store", self.store, "--to", "t")
        self.assertIn("did you mean other?", answer.err)

    def test_ls_and_info_tell_who_wrote_a_set(self):
        self.assertEqual(["a1", "a2"], self.names("--series", "default"))
        self.run_error(NOT_FOUND, "ls", self.store, "--series", "none")
        self.assertRegex(self.run_ok("ls", self.store).out, r"(?m)^b1 +other ")
        info = self.run_ok("info", self.store, "b1", "--json").json
        self.assertEqual("other", info["series"])
        self.assertTrue(info["host"])
        self.assertIn("forebay pack", info["command"])

    def test_prune_keeps_the_newest_of_each_series(self):
        pruned = self.run_ok("prune", self.store, "--keep-last", "1", "--dry-run", "--json").json
        self.assertEqual({"a1", "b1"}, set(pruned["removed"]))
        pruned = self.run_ok("prune", self.store, "--keep-last", "1", "--series", "other", "--json").json
        self.assertEqual(["b1"], pruned["removed"])
        self.assertEqual("b9", pruned["newest_intact"])
        self.assertEqual({"a1", "a2", "b9"}, set(self.names()))

    def test_a_base_is_of_the_same_series_and_is_kept_for_any(self):
        words = ["pack", self.tree, "--store", self.store, "--json"]
        packed = self.run_ok(*words, "--name", "a3", "--parent", "latest").json
        self.assertEqual("a2", packed["parent"])
        packed = self.run_ok(*words, "--name", "c1", "--series", "third", "--parent", "latest").json
        self.assertIsNone(packed["parent"])
        self.assertIn("no set yet", packed["remarks"][0])
        self.run_ok(*words, "--name", "c2", "--series", "third", "--parent", "b1")
        pruned = self.run_ok("prune", self.store, "--keep-last", "1", "--json").json
        self.assertIn({"name": "b1", "by": "c2"}, pruned["needed"])
        self.assertEqual({"a1", "c1"}, set(pruned["removed"]))
        self.run_ok("verify", self.store)

    def test_a_name_that_cannot_be_one(self):
        for name in ("a/b", "..", "latest", "x" * 101):
            self.run_error(USAGE, "pack", self.tree, "--store", self.store, "--name", "n", "--series", name)


if __name__ == "__main__":
    main()
