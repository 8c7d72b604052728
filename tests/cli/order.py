#!/usr/bin/env python3
"""The newest set is the one that was completed last, whatever names and steps say."""

import os
import shutil
import unittest

from support import OK, SOURCE, USAGE, StoreTest, forebay, main


class Order(StoreTest):
    def setUp(self):
        super().setUp()
        self.runs = self.work / "run"
        self.runs.mkdir()

    def make(self, name, content="x", modified=None):
        directory = self.runs / name
        directory.mkdir(parents=True)
        file = directory / "field.0"
        file.write_text(f"{name} {content}\n" * 200)
        if modified is not None:
            os.utime(file, (modified, modified))
        return directory

    def pack(self, name, *words, warns=False):
        answer = forebay("pack", self.make(name), "--store", self.store, *words)
        self.assertEqual(OK, answer.code, answer.err)
        self.assertEqual(warns, "another run? (--series)" in answer.err, answer.err)
        return answer

    def names(self):
        return [one["name"] for one in self.run_ok("ls", self.store, "--json").json["sets"]]

    def latest(self):
        target = self.work / f"back{len(list(self.work.iterdir()))}"
        return self.run_ok("restore", "latest", "--store", self.store, "--to", target, "--json").json["set"]

    def test_prune_in_a_loop_keeps_what_was_packed_last(self):
        """Yesterday's run came to step 10; `prune --keep-last 2` removed each new set of today's."""
        self.pack("dump_0009")
        self.pack("dump_0010")
        for step in (1, 2, 3):
            self.pack(f"dump_{step:04}", warns=step == 1)
            self.run_ok("prune", self.store, "--keep-last", "2")
            self.assertEqual(f"dump_{step:04}", self.names()[-1])
            self.assertEqual(f"dump_{step:04}", self.latest())
        self.assertEqual(["dump_0002", "dump_0003"], self.names())

    def test_names_do_not_order_what_was_packed(self):
        for name in ("0.8", "0.9", "1", "1.1"):
            self.pack(name)
        self.assertEqual("1.1", self.latest())
        for name in ("2000-01-31", "2000-02-02", "2e-05", "0.0002", "1e-05"):
            self.pack(name, warns=name == "1e-05")
            self.assertEqual(name, self.latest())

    def test_a_set_without_a_step_stays_where_it_is(self):
        """It was the newest of all, and the oldest as soon as a set of a lower step came."""
        self.pack("dump_0010")
        self.pack("final")
        self.assertEqual("final", self.latest())
        self.pack("dump_0001")
        self.assertEqual(["dump_0010", "final", "dump_0001"], self.names())
        self.assertEqual("dump_0001", self.latest())
        self.pack("other", "--parent", "latest")
        self.assertEqual("other", self.latest())

    def test_steps_are_labels(self):
        self.pack("a", "--step", "10")
        answer = self.pack("b", "--step", "5", warns=True)
        self.assertIn("its step 5 lies below 10, that of the one before, a", answer.err)
        self.assertEqual("b", self.latest())
        sets = self.run_ok("ls", self.store, "--json").json["sets"]
        self.assertEqual([("a", 10, 1), ("b", 5, 2)], [(one["name"], one["step"], one["ordinal"]) for one in sets])
        self.assertEqual(["b", "a"], [self.run_ok("ls", self.store, f"step:{step}", "--json").json["sets"][0]["name"] for step in (5, 10)])
        answer = forebay("restore", "step:10", "--store", self.store, "--to", self.work / "ten", "--json")
        self.assertEqual("a", answer.json["set"])
        self.run_ok("prune", self.store, "--keep-last", "1", "--keep-every", "10")
        self.assertEqual(["a", "b"], self.names())

    def test_each_takes_directories_in_natural_order(self):
        day = 86_400
        now = int(os.stat(self.work).st_mtime) - day
        for name in ("0.9", "1", "1.1", "0.8"):
            self.make(name)
        shell = sorted(self.runs.iterdir())
        answer = self.run_ok("pack", "--each", *shell, "--store", self.store)
        self.assertIn("in the order of the names: ", answer.out)
        self.assertEqual(["0.8", "0.9", "1", "1.1"], self.names())
        chk = [self.make("chk1", modified=now - 60), self.make("chk0", modified=now)]
        answer = forebay("pack", "--each", *chk, "--store", self.store, "--series", "ab", "--json").json
        self.assertEqual(["chk1", "chk0"], [one["set"] for one in answer["packed"]])
        self.assertEqual("times", answer["by"])
        self.assertIn("disagree", answer["remarks"][0])
        self.run_error(USAGE, "pack", "--each", *chk, "--name", "x", "--store", self.store)

    def test_sets_of_earlier_versions_come_first_by_creation(self):
        """A store as the version before ordinals has written it: dump_0009, dump_0010, then dump_0001 of another run."""
        shutil.copytree(SOURCE / "tests" / "golden" / "v1-store", self.store)
        (self.store / "staging").mkdir()
        listed = self.run_ok("ls", self.store).out
        self.assertIn("note: 3 sets were stored by a version that kept no order", listed)
        self.assertEqual("dump_0001", self.latest())
        self.pack("dump_0002")
        self.assertEqual(["dump_0009", "dump_0010", "dump_0001", "dump_0002"], self.names())
        last = self.run_ok("ls", self.store, "--json").json["sets"][-1]
        self.assertEqual(4, last["ordinal"])

    def test_a_repaired_set_has_the_place_of_the_damaged_one(self):
        self.pack("dump_0001")
        self.pack("dump_0002")
        self.pack("dump_0003")
        [container] = [p for p in (self.store / "sets" / "dump_0002").iterdir() if p.name != "manifest"]
        content = bytearray(container.read_bytes())
        content[-40] ^= 1
        container.write_bytes(content)
        forebay("repair", self.store, "dump_0002")
        self.assertEqual(["dump_0001", "dump_0002", "dump_0002-repaired", "dump_0003"], self.names())
        self.assertEqual("dump_0003", self.latest())


if __name__ == "__main__":
    main()
