#!/usr/bin/env python3
"""forebay doctor: what it finds here, in directories that are good for a job and in others, and that it leaves no trace."""

import os
import unittest

from support import OK, USAGE, StoreTest, forebay, main

UNFIT = 12


class Doctor(StoreTest):
    def setUp(self):
        super().setUp()
        self.stage = self.work / "stage"
        self.stage.mkdir()

    def ask(self, *words, code=OK, **options):
        answer = forebay("doctor", *words, "--stage", self.stage, "--json", **options)
        self.assertEqual((code, ""), (answer.code, answer.err), answer.out)
        return answer.json

    def finding(self, document, topic, verdict=None):
        found = [one for one in document["findings"] if one["topic"].startswith(topic) and verdict in (None, one["verdict"])]
        self.assertTrue(found, f"{topic}: {document}")
        return found[0]

    def test_a_machine_that_is_fit(self):
        self.pack()
        before = sorted(os.listdir(self.store)), sorted(os.listdir(self.stage))
        document = self.ask(self.store)
        self.assertEqual(0, document["stops"])
        self.assertEqual("sets are kept in this store", self.finding(document, f"store {self.store}")["use"])
        self.assertIn(self.finding(document, "stage")["verdict"], ("ok", "note"))
        for topic in ("build", "processors", "memory", "kernel", "inotify", "open files", "user", "mpi", "ucx", "munge", "batch"):
            self.finding(document, topic)
        for one in document["findings"]:
            self.assertTrue(one["found"] and one["use"], one)
            self.assertEqual(one["verdict"] in ("warning", "stop"), one["change"] is not None, one)
        self.assertEqual(before, (sorted(os.listdir(self.store)), sorted(os.listdir(self.stage))))

    def test_text_says_the_same(self):
        answer = self.run_ok("doctor", "--stage", self.stage)
        for line in answer.out.splitlines():
            self.assertTrue(len(line) <= 80 or " " not in line.strip(), line)
        self.assertRegex(answer.out, r"(?m)^ok +build: forebay \d")
        self.assertRegex(answer.out, r"(?m)^(ok|note|warning) +memory: ")
        self.assertRegex(answer.out, r"\nNothing here stops a job; (no warnings|\d+ warnings?)\.\n$")

    def test_directories_that_are_not_there_yet(self):
        document = self.ask(self.work / "new/store", "--rendezvous", self.work / "new/rv")
        self.assertRegex(self.finding(document, "store")["found"], "^not there yet; ")
        self.assertFalse((self.work / "new").exists())

    def test_store_that_is_none(self):
        document = self.ask(self.tree, code=UNFIT)
        self.assertIn("is no store", self.finding(document, "store", "stop")["found"])
        self.assertIn("--store", self.finding(document, "store", "stop")["change"])
        answer = forebay("doctor", self.tree / "run.log", "--stage", self.stage)
        self.assertEqual(UNFIT, answer.code)
        self.assertRegex(" ".join(answer.out.split()), r"stop store .*: .*not a directory")
        self.assertIn("1 thing would stop a job", answer.out)

    def test_rendezvous_that_others_can_read(self):
        directory = self.work / "rv"
        directory.mkdir()
        directory.chmod(0o755)
        document = self.ask("--rendezvous", directory, code=UNFIT)
        self.assertIn("chmod 700", self.finding(document, "rendezvous", "stop")["change"])
        directory.chmod(0o700)
        self.ask("--rendezvous", directory)

    @unittest.skipUnless(os.path.isdir("/proc/self"), "no /proc")
    def test_store_that_cannot_be_written(self):
        document = self.ask("/proc/self", code=UNFIT)
        self.assertTrue(self.finding(document, "store", "stop")["change"])

    def test_environment_names_directories_and_a_job(self):
        environment = {"FOREBAY_STORE": str(self.work / "st"), "SLURM_JOB_ID": "4711", "SLURM_JOB_NODELIST": "n[1-2]", "PATH": "/nonexistent"}
        document = self.ask(env=environment, code=UNFIT)
        self.finding(document, f"store {self.work}/st")
        self.assertIn("Slurm job 4711, but PATH has no scontrol", self.finding(document, "batch system", "stop")["found"])

    def test_one_store_only(self):
        self.run_error(USAGE, "doctor", self.store, self.work)
        self.run_error(USAGE, "doctor", self.work, "--store", self.store)


if __name__ == "__main__":
    main()
