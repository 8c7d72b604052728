#!/usr/bin/env python3
"""What lies in a stage before a run, or belongs to somebody else, is left alone (decision 0050)."""

import os
import shutil
import subprocess
import sys
import unittest

from job_support import JobTest, forebay, main, snapshot, wait_until

NOBODY = 65534


class Found(JobTest):
    """The stage is a case: what a user has there, beside which the application writes its checkpoints."""

    def make_case(self):
        for name in ("system/control", "constant/mesh/points", "processor0/constant/points", "processor0/0/U", "zlast/x"):
            path = self.stage / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
        (self.stage / "Allrun").write_text("#!/bin/sh")
        return snapshot(self.stage)

    def case(self, before):
        return {name: what for name, what in snapshot(self.stage).items() if name in before}

    def run_job(self, code, *options, application):
        words = ["run", "--store", self.store, "--stage", self.stage, "--series", "one", "--complete", "rename", *options,
                 "--", *application]  # fmt: skip
        process = self.start(*words)
        out, err = process.communicate(timeout=100)
        self.assertEqual(code, process.returncode, out + err)
        return err

    def test_what_is_in_the_stage_before_the_run_stays(self):
        before = self.make_case()
        err = self.run_job(0, "--backlog", "block", application=[sys.executable, self.application])
        self.assertEqual(before, self.case(before))
        self.assertEqual(["s0", "s1", "s2"], self.sets())
        self.assertEqual(1, err.count("5 things were there before this job"), err)
        self.assertIn("Allrun, constant, processor0, system, zlast", err)
        # What the first run has left is known to the second one, and what a user has put there meanwhile is not.
        shutil.copytree(self.stage / "s2", self.stage / "s2-saved")
        err = self.run_job(0, "--backlog", "block", "--restart-args", "--restart {}",
                           application=[sys.executable, self.application, "--sets", 5])  # fmt: skip
        self.assertIn("Allrun, constant, processor0, s2-saved, system, zlast", err)
        self.assertEqual("0\n3\n", (self.copies / "starts").read_text())
        self.assertEqual(["s0", "s1", "s2", "s3", "s4"], self.sets())
        self.assertEqual({".forebay", "s4", "s2-saved", "Allrun", "constant", "processor0", "system", "zlast"},
                         set(os.listdir(self.stage)))  # fmt: skip

    def test_what_is_not_replaced_by_a_restart(self):
        self.run_job(0, application=["sh", "-c", 'mkdir "$FOREBAY_STAGE/s1"; echo stored > "$FOREBAY_STAGE/s1/f"; sleep 1'])
        shutil.rmtree(self.stage)
        (self.stage / "s1").mkdir(parents=True)
        (self.stage / "s1/f").write_text("mine")
        err = self.run_job(1, "--restart-args", "{}", application=["true"])
        self.assertIn("it was there before this job, and no earlier job knows it: it is not replaced", err)
        self.assertEqual("mine", (self.stage / "s1/f").read_text())

    def test_skipped_sets_are_named(self):
        script = 'cd "$FOREBAY_STAGE"; for i in 1 2 3 4 5 6; do mkdir .n; head -c 300000 /dev/urandom > .n/f; mv .n s$i; sleep 0.2; done'
        err = self.run_job(0, "--pfs-limit", "400K", application=["sh", "-c", script])
        stored = [one["name"] for one in self.run_ok("ls", self.store, "--json").json["sets"]]
        skipped = [f"s{i}" for i in range(1, 7) if f"s{i}" not in stored]
        self.assertTrue(skipped and "s6" in stored, stored)
        self.assertIn("skipped, and not stored, since the drain was behind: " + ", ".join(skipped), err)
        self.assertEqual({".forebay", "s6"}, set(os.listdir(self.stage)))

    def test_watch_leaves_it_alone_too(self):
        before = self.make_case()
        watch = self.start_daemon("watch", self.stage, "--store", self.store, "--complete", "rename", "--keep", 0)
        shutil.copytree(self.stage / "zlast", self.stage / ".new")
        os.rename(self.stage / ".new", self.stage / "s1")
        wait_until(lambda: not (self.stage / "s1").exists())
        watch.terminate()
        _, err = watch.communicate(timeout=30)
        self.assertIn("5 things were there before this job", err)
        self.assertEqual(before, self.case(before))
        self.assertEqual(["s1"], os.listdir(self.store / "sets"))

    def test_watch_once_stores_it_and_leaves_it(self):
        before = self.make_case()
        for _ in range(2):
            out, err = self.start("watch", self.stage, "--store", self.store, "--complete", "rename", "--once").communicate(timeout=60)
            self.assertEqual(before, self.case(before), err)
        self.assertIn("0 sets durable", out, "they were stored the first time")
        self.assertEqual({"system", "constant", "processor0", "zlast"}, set(os.listdir(self.store / "sets")))
        self.run_job(0, application=["true"])
        self.assertEqual(before, self.case(before))

    @unittest.skipUnless(os.geteuid() == 0, "only root can make something another user's")
    def test_a_stage_of_another_user_is_refused(self):
        self.stage.mkdir(mode=0o700)
        os.chown(self.stage, NOBODY, NOBODY)
        err = self.run_job(1, application=["true"])
        self.assertIn("the stage belongs to another user (number 65534) (name another directory as the stage)", err)
        os.chown(self.stage, 0, 0)
        os.chmod(self.stage, 0o777)
        err = self.run_job(1, application=["true"])
        self.assertIn("everybody can write to the stage, and remove what is there (chmod o-w", err)
        answer = forebay("watch", self.stage, "--store", self.store, "--complete", "rename", "--once")
        self.assertEqual(1, answer.code, answer.err)
        self.assertIn("everybody can write to the stage", answer.err)

    @unittest.skipUnless(os.geteuid() == 0, "only root can make something another user's")
    def test_what_another_user_puts_into_a_stage_that_all_share_is_no_set(self):
        self.stage.mkdir()
        os.chmod(self.stage, 0o1777)
        script = self.work / "plant.sh"
        script.write_text('cd "$FOREBAY_STAGE"; mkdir .n; echo a > .n/f; mv .n s1; sleep 0.5\n'
                          f'mkdir .p; echo b > .p/f; chown -R {NOBODY} .p; mv .p s2; sleep 1\n')  # fmt: skip
        self.run_job(0, application=["sh", script])
        self.assertEqual(["s1"], os.listdir(self.store / "sets"))
        self.assertTrue((self.stage / "s2/f").exists())


if __name__ == "__main__":
    main()
