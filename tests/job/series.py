#!/usr/bin/env python3
"""Several runs on one store: which ones continue one another, and which ones leave one another alone."""

import re
import sys

from job_support import COMMAND, JobTest, forebay, main, wait_until

FAILED, EXISTS = 1, 4


class Series(JobTest):
    def setUp(self):
        super().setUp()
        self.runs = 0

    def begin(self, *options, command=None, application=()):
        """With a stage and copies of its own."""
        self.runs += 1
        self.stage, self.copies = self.work / f"stage{self.runs}", self.work / f"copies{self.runs}"
        self.copies.mkdir()
        words = command or [sys.executable, self.application, *application]
        return self.start("run", "--store", self.store, "--stage", self.stage, "--complete", "rename", "--backlog", "block",
                          *options, "--", *words)  # fmt: skip

    def finish(self, process, code):
        out, err = process.communicate(timeout=100)
        self.assertEqual(code, process.returncode, out + err)
        return out, err

    def run_job(self, code, *options, **what):
        return self.finish(self.begin(*options, **what), code)

    def starts(self):
        return (self.copies / "starts").read_text().split()

    def ls(self, *words):
        return self.run_ok("ls", self.store, "--json", *words).json["sets"]

    def test_the_same_job_continues_and_another_one_does_not(self):
        restart = ["--restart-args", "--restart {}"]
        _, err = self.run_job(137, *restart, application=["--sets", 3, "--crash", 1])
        (series,) = re.findall(r" series (\S+): no set yet$", err, re.MULTILINE)
        self.assertEqual(series, self.ls()[0]["series"])
        self.assertIn("application.py --sets 3", self.ls()[0]["command"])
        self.assertTrue(self.ls()[0]["run"])

        _, err = self.run_job(0, *restart, application=["--sets", 3, "--crash", 1])
        self.assertEqual(["2"], self.starts())
        self.assertIn(f"series {series}: 2 sets, the newest is s1 of 4 ranks\n", err)

        _, err = self.run_job(0, *restart, application=["--sets", 2])
        self.assertEqual(["0"], self.starts())
        self.assertIn(f"no set yet; the store has others, which are left alone: {series} (3 sets, the newest is s2)", err)
        self.assertEqual(["s0", "s1", "s2"], [one["name"] for one in self.ls("--series", series)])
        self.assertEqual(5, len(self.ls()))

        out, _ = self.run_job(0, *restart, "--series", series, "--json", application=["--sets", 4])
        self.assertEqual(["3"], self.starts())
        self.assertIn(f'"series": "{series}"', out)

    def test_what_a_killed_job_left_in_a_stage_is_not_taken_by_another_one(self):
        first = self.begin("--series", "one", "--pfs-limit", "1K", application=["--sets", 1, "--pause", 0, "--wait"])
        wait_until((self.stage / "s0").exists)
        first.kill()
        first.wait()
        wait_until(lambda: not self.processes())
        stage = self.stage
        words = ["run", "--store", self.store, "--stage", stage, "--complete", "rename"]
        answer = forebay(*words, "--series", "two", "--", "true")
        self.assertEqual(FAILED, answer.code, answer.err)
        self.assertIn("holds sets of the series one that are not stored yet, and not of two: s0", answer.err)
        self.assertEqual(0, forebay(*words, "--series", "one", "--", "true").code)
        self.assertEqual(["one"], [one["series"] for one in self.ls()])
        self.assertEqual(0, forebay(*words, "--series", "two", "--", "true").code)
        self.assertEqual(1, len(self.ls()))

    def test_one_run_of_a_series_at_a_time(self):
        first = self.begin("--series", "one", application=["--wait"])
        wait_until((self.stage / "s2").exists)
        _, err = self.run_job(EXISTS, "--series", "one", application=["--sets", 1])
        self.assertRegex(err, rf"another job of the series 'one' lives \(on \S+, process {first.pid}, since .*--series NAME")
        self.assertFalse((self.copies / "starts").exists())
        self.run_job(0, "--series", "two", application=["--sets", 1])
        first.kill()
        first.wait()
        _, err = self.run_job(0, "--series", "one", application=["--sets", 1])
        self.assertIn("has ended without putting things in order (on ", err)
        wait_until(lambda: not self.processes())

    def test_a_restart_on_another_number_of_ranks_must_be_asked_for(self):
        self.run_job(0, "--series", "one", application=["--sets", 2])
        fetch = f"{COMMAND} fetch --ranks 0-2 --of 3"
        out, err = self.run_job(0, "--series", "one", command=["sh", "-c", f"{fetch}; echo $?; ls $({fetch} --any-ranks)"])
        self.assertEqual(["2", *(f"state.rank{rank:04}" for rank in range(4))], out.split(), err)
        self.assertIn("s1, is of 4 ranks, and the job has 3", err)


if __name__ == "__main__":
    main()
