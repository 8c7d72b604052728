#!/usr/bin/env python3
"""pack --parent: frames that another set has are not stored again; what the verbs make of such sets."""

import shutil
import subprocess
import unittest

from support import COMMAND, DAMAGED, NOT_FOUND, USAGE, StoreTest, environment, flip, forebay, main, make_tree, snapshot


class Bases(StoreTest):
    def pack_on(self, name, parent, *words):
        return self.pack("--name", name, "--parent", parent, "--group-size", "2", *words, "--json").json

    def setUp(self):
        super().setUp()
        self.pack("--name", "a", "--group-size", "2")

    def sets(self):
        return {s["name"]: s for s in self.run_ok("ls", self.store, "--json").json["sets"]}

    def check_restores(self, name):
        self.run_ok("restore", name, "--store", self.store, "--to", self.work / name)
        self.assertEqual(snapshot(self.tree), snapshot(self.work / name))

    def test_pack_tells_what_it_did_not_store(self):
        packed = self.pack_on("b", "latest")
        self.assertEqual("a", packed["parent"])
        (base,) = packed["parents"]
        self.assertEqual("a", base["name"])
        self.assertGreaterEqual(base["frame_count"], 2)
        self.assertGreaterEqual(base["raw_bytes"], 4 * 48 * 48 * 8)
        self.assertLess(self.sets()["b"]["stored_bytes"], self.sets()["a"]["stored_bytes"])
        self.check_restores("b")
        text = self.pack("--name", "c", "--parent", "b", "--group-size", "2").out
        self.assertRegex(text, r"(?m)^refers to: .* in \d+ frames of a$")
        self.assertIsNone(self.pack("--name", "d", "--json").json["parent"])

    def test_the_first_of_a_run_is_stored_in_full(self):
        other = self.work / "other"
        packed = self.run_ok("pack", self.tree, "--store", other, "--parent", "latest", "--json").json
        self.assertEqual((None, []), (packed["parent"], packed["parents"]))
        self.assertIn("no set yet", packed["remarks"][0])
        self.run_error(NOT_FOUND, "pack", self.tree, "--store", other, "--name", "x", "--parent", "none")

    def test_every_nth_set_is_full(self):
        full = [not self.pack_on(f"s{i}", "latest", "--full-every", "3")["parents"] for i in range(1, 7)]
        self.assertEqual([False, False, True, False, False, True], full)
        self.run_error(USAGE, "pack", self.tree, "--store", self.store, "--name", "x", "--full-every", "0")

    def test_ls_and_info_name_the_bases(self):
        self.pack_on("b", "a")
        self.assertEqual(["a"], [b["name"] for b in self.sets()["b"]["parents"]])
        self.assertEqual([], self.sets()["a"]["parents"])
        self.assertRegex(self.run_ok("ls", self.store).out, r"(?m)^b .* a$")
        info = self.run_ok("info", self.store, "b", "--json").json
        self.assertEqual("a", info["parents"][0]["name"])
        self.assertIn("base", [c["chain"] for c in info["containers"][0]["chains"]])
        self.assertRegex(self.run_ok("info", self.store, "b").out, r"(?m)^refers to +.* in \d+ frames of a$")
        for words in (["ls", self.store, "b"], ["ls", self.store, "b", "-v"], ["info", self.store, "b", "--groups"]):
            self.run_ok(*words)
            self.run_ok(*words, "--json").json

    def test_extract_and_diff(self):
        self.pack_on("b", "a")
        for name in "a", "b":
            self.run_ok("extract", name, "*", "--store", self.store, "--rank", "1", "--to", self.work / f"{name}.npy")
        self.assertEqual((self.work / "a.npy").read_bytes(), (self.work / "b.npy").read_bytes())
        self.assertEqual("", self.run_ok("diff", "a", "b", "--store", self.store).out)

    def test_prune_keeps_what_is_needed(self):
        self.pack("--name", "lonely", "--step", "1", "--group-size", "2")
        self.pack_on("b", "a", "--step", "2")
        dry = self.run_ok("prune", self.store, "--keep-last", "1", "--dry-run", "--json").json
        self.assertEqual((["lonely"], [{"name": "a", "by": "b"}]), (dry["removed"], dry["needed"]))
        done = self.run_ok("prune", self.store, "--keep-last", "1").out
        self.assertEqual("removed lonely\na stays: it holds frames of b\n1 set removed, 2 kept\n", done)
        self.check_restores("b")
        self.pack("--name", "new", "--step", "3", "--group-size", "2")
        self.assertEqual(["b", "a"], self.run_ok("prune", self.store, "--keep-last", "1", "--json").json["removed"])
        self.check_restores("new")

    def test_prune_keeps_the_bases_of_sets_without_a_manifest(self):
        self.pack_on("b", "a", "--step", "2")
        self.pack("--name", "new", "--step", "3")
        flip(self.store / "sets/b/manifest", 100)
        pruned = forebay("prune", self.store, "--keep-last", "1", "--json")
        self.assertEqual((DAMAGED, []), (pruned.code, pruned.json["removed"]))
        self.run_ok("repair", self.store, "b", "--as", "fixed")
        self.check_restores("fixed")

    def test_a_base_that_was_deleted_is_named(self):
        self.pack_on("b", "a")
        shutil.rmtree(self.store / "sets/a")
        for words in (["restore", "b", "--store", self.store, "--to", self.work / "x"], ["verify", self.store, "b"]):
            answer = forebay(*words)
            self.assertEqual(DAMAGED, answer.code)
            self.assertRegex(answer.out + answer.err, r"frame \d+ refers to frame \d+ of a/0000\d-of-00002\.fbc, which is missing")
        self.assertEqual([], [p for p in (self.work / "x").rglob("*") if p.is_file()])
        repaired = forebay("repair", self.store, "b", "--json")
        self.assertEqual((DAMAGED, None), (repaired.code, repaired.json["repaired_set"]))
        self.assertIn("of a/", repaired.json["lost_files"][0])

    def test_a_damaged_base_is_the_cause(self):
        self.pack_on("b", "a")
        flip(self.containers("a")[0], self.containers("a")[0].stat().st_size // 2)
        answer = forebay("verify", self.store, "--json")
        self.assertEqual(DAMAGED, answer.code)
        by_name = {s["name"]: s for s in answer.json["sets"]}
        self.assertEqual((["b"], []), (by_name["a"]["dependants"], by_name["b"]["dependants"]))
        self.assertIn("holds frames of b", forebay("verify", self.store, "a").out)

    def test_mpi_processes_write_the_same(self):
        if not shutil.which("mpiexec.mpich") or "MPI: yes" not in self.run_ok("--version").out:
            self.skipTest("no MPI")
        self.pack_on("one", "a")
        subprocess.run(["mpiexec.mpich", "-n", "2", COMMAND, "pack", self.tree, "--store", self.store, "--name", "two",
                        "--parent", "a", "--group-size", "2"], check=True, capture_output=True, env=environment())
        one, two = self.containers("one"), self.containers("two")
        self.assertEqual([p.read_bytes() for p in one], [p.read_bytes() for p in two])
        self.assertEqual(self.sets()["one"]["parents"], self.sets()["two"]["parents"])
        self.check_restores("two")


if __name__ == "__main__":
    main()
