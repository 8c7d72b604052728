#!/usr/bin/env python3
"""forebay run: what the stage holds when the application has ended, or is started again, is drained or named."""

import json
import shutil
import sys

from job_support import JobTest, main

# Writes the sets dump_40 and dump_70, of a file each, under their final names, and kills itself; started again it says
# where from, and reads that after a while.
RELAUNCHED = r"""
import os, pathlib, shutil, signal, sys, time
stage, copies = pathlib.Path(os.environ["FOREBAY_STAGE"]), pathlib.Path(os.environ["COPIES"])
def write(name):
    (stage / name).mkdir()
    (stage / name / "state").write_text(name)
    shutil.copytree(stage / name, copies / name)
if "--restart" in sys.argv:
    time.sleep(2)
    (copies / "read").write_text((pathlib.Path(sys.argv[-1]) / "state").read_text())
    write("dump_80")
else:
    write("dump_40")
    time.sleep(float(sys.argv[1]))
    write("dump_70")
    os.kill(os.getpid(), signal.SIGKILL)
"""


class Settle(JobTest):
    def run_job(self, code, options, *command):
        process = self.start("run", "--store", self.store, "--stage", self.stage, "--series", "one", *options,
                             "--", *command)  # fmt: skip
        out, err = process.communicate(timeout=100)
        self.assertEqual(code, process.returncode, out + err)
        self.assertEqual([], self.processes())
        return out, err

    def run_shell(self, code, options, script):
        return self.run_job(code, options, "sh", "-c", f'cd "$FOREBAY_STAGE" && {script}')

    def test_what_has_not_settled_at_the_end_is_drained(self):
        _, err = self.run_shell(0, ["--complete", "settled:1:500"], 'mkdir a && echo x > a/f && cp -rp a "$COPIES/a"')
        self.assertIn("1 set durable", err)
        self.assertEqual(["a"], [one["name"] for one in self.run_ok("ls", self.store, "--json").json["sets"]])

    def test_a_set_with_another_number_of_files_is_named_at_once(self):
        _, err = self.run_shell(11, ["--complete", "settled:2:1"],
                                'mkdir a && echo x > a/f; sleep 3')
        told = err.index("a: 1 files where 2 are expected, and nothing was written to it for 1 s: it is no set by --complete settled:2")
        self.assertLess(told, err.index("'a' is not stored"), err)
        self.assertEqual(1, err.count("nothing was written to it"), err)

    def test_what_is_not_complete_at_the_end_is_named(self):
        options = ["--complete", "settled:2:500", "--json"]
        out, err = self.run_shell(11, options, "mkdir a b c && echo x > a/f && echo x > b/f && echo y > b/g; touch d")
        self.assertIn("'a' is not stored, and stays in the stage", err)
        self.assertIn("1 files where 2 are expected", err)
        self.assertNotIn("'b'", err)
        self.assertNotIn("'c'", err)
        self.assertIn("'d' is not stored", err)
        self.assertEqual(2, json.loads(out)["unstored_count"])
        self.assertTrue((self.stage / "a/f").exists())
        _, err = self.run_shell(5, options, "exit 5")
        self.assertIn("'a' is not stored", err)

    def test_a_forgotten_rule_is_told(self):
        _, err = self.run_shell(11, [], "mkdir a && echo x > a/f")
        self.assertIn("'a' is not stored", err)
        self.assertIn("without --complete only those of applications that call forebay.h are", err)
        shutil.rmtree(self.stage / "a")
        _, err = self.run_shell(0, ["--complete", "rename"], "true")
        self.assertIn("no checkpoint set was written", err)

    def relaunched(self, *options, pause):
        self.application.write_text(RELAUNCHED)
        self.run_job(0, ["--relaunch", 1, "--restart-args", "--restart {}", *options], sys.executable, self.application, pause)
        self.assertEqual(["dump_40", "dump_70", "dump_80"], self.sets())
        return (self.copies / "read").read_text()

    def test_a_relaunch_takes_the_newest_set_though_it_has_not_settled(self):
        """And while the application reads it, nothing takes it away."""
        self.assertEqual("dump_70", self.relaunched("--complete", "settled:1:1", "--backlog", "block", "--keep", 1, pause=3))

    def test_settle_for_scripts(self):
        self.start_aggregator()
        self.start_daemon("agent", "--stage", self.stage, "--rendezvous", self.rendezvous, "--complete", "settled:1:500")
        (self.stage / "a").mkdir()
        (self.stage / "a/f").write_text("x")
        self.assertEqual("", self.run_ok("settle", "--rendezvous", self.rendezvous).err)
        answer = self.run_ok("fetch", "--stage", self.stage, "--ranks", "0", "--of", 1)
        self.assertEqual(f"{self.stage}/a\n", answer.out)
        (self.stage / "b").mkdir()
        (self.stage / "b/f").write_text("x")
        (self.stage / "b/g").write_text("x")
        self.assertIn("2 files where 1 are expected", self.run_error(11, "settle", "--rendezvous", self.rendezvous).err)
        self.assertIn("'b' is not stored", self.run_error(11, "stop", "--drain", "--settle", "--rendezvous", self.rendezvous).err)


if __name__ == "__main__":
    main()
