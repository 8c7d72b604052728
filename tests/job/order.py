#!/usr/bin/env python3
"""Running jobs: the newest set is the one that was completed last, whatever sets are called."""

import os
import shutil

from job_support import JobTest, main, wait_until

# Writes the sets that $TIMES names, one after the other, crashes, and prints what it is given.
SCRIPT = """
if [ $# -gt 0 ]; then echo "RESUMES FROM $(basename "$2")"; exit 0; fi
for t in $TIMES; do
  mkdir "$FOREBAY_STAGE/$t.tmp"
  head -c 30000 /dev/urandom >"$FOREBAY_STAGE/$t.tmp/field.0"
  mv "$FOREBAY_STAGE/$t.tmp" "$FOREBAY_STAGE/$t"
  sleep 0.4
done
kill -9 $$
"""


class Order(JobTest):
    times = ""

    def env(self):
        return super().env() | {"TIMES": self.times}

    def listed(self, *words):
        return [one["name"] for one in self.run_ok("ls", self.store, "--json", *words).json["sets"]]

    def make_set(self, name, where=None, modified=None):
        directory = (where or self.stage) / name
        directory.mkdir(parents=True)
        (directory / "field.0").write_text(name * 100)
        if modified:
            os.utime(directory / "field.0", (modified, modified))
        return directory

    def test_a_restart_takes_the_set_that_was_completed_last(self):
        script = self.work / "order.sh"
        script.write_text(SCRIPT)
        jobs = []
        for i, times in enumerate(("0.8 0.9 1 1.1", "2000-01-30 2000-01-31 2000-02-01 2000-02-02", "1e-05 2e-05 0.0001 0.0002",
                                   "t=0.5,cells=64 t=1.5,cells=32", "s9 s10 s2")):  # fmt: skip
            self.times = times
            jobs.append((times.split()[-1], self.start(
                "run", "--store", self.work / f"store{i}", "--stage", self.work / f"stage{i}", "--complete", "rename",
                "--relaunch", 1, "--relaunch-pause", 0.1, "--restart-args", "--restart {}", "--", "sh", script)))  # fmt: skip
        for newest, job in jobs:
            out, err = job.communicate(timeout=100)
            self.assertEqual(0, job.returncode, err)
            self.assertIn(f"RESUMES FROM {newest}\n", out, err)

    def test_another_runs_steps_are_reported_and_do_not_matter(self):
        for name in ("dump_0009", "dump_0010"):
            self.run_ok("pack", self.make_set(name, self.copies), "--store", self.store, "--series", "both")
        script = self.work / "order.sh"
        script.write_text(SCRIPT)
        self.times = "dump_0001 dump_0002"
        job = self.start("run", "--store", self.store, "--stage", self.stage, "--complete", "rename", "--series", "both",
                         "--backlog", "block", "--", "sh", script)  # fmt: skip
        out, err = job.communicate(timeout=100)
        self.assertEqual(["dump_0009", "dump_0010", "dump_0001", "dump_0002"], self.listed(), out + err)
        self.assertIn("its name lies below that of the one before, dump_0010: another run? (--series)", err)

    def watch_once(self, *words):
        answer = self.start("watch", self.stage, "--store", self.store, "--complete", "rename", "--once", "--keep", 9, *words)
        out, err = answer.communicate(timeout=60)
        self.assertEqual(0, answer.returncode, out + err)
        return err

    def test_what_lies_in_a_stage_is_taken_in_natural_order(self):
        for name in ("0.9", "1.1", "1", "0.8", "10"):
            self.make_set(name)
        err = self.watch_once()
        self.assertEqual(["0.8", "0.9", "1", "1.1", "10"], self.listed())
        self.assertIn("what lies here is taken in the order of the names: 0.8, 0.9, 1, 1.1, 10", err)

    def test_times_decide_where_names_do_not(self):
        now = int(os.stat(self.work).st_mtime)
        for age, name in ((300, "kh.00011.rst"), (200, "kh.final.rst"), (100, "kh.00012.rst")):
            self.make_set(name, modified=now - age)
        self.watch_once()
        self.assertEqual(["kh.00011.rst", "kh.final.rst", "kh.00012.rst"], self.listed())

    def test_a_set_that_is_written_again_is_the_newest(self):
        watch = self.start_daemon("watch", self.stage, "--store", self.store, "--complete", "rename", "--keep", 9)
        for name in ("a", "b"):
            self.make_set(name)
            wait_until((self.store / "sets" / name).exists)
        shutil.rmtree(self.stage / "a")
        self.make_set("new-a", self.copies)
        (self.copies / "new-a" / "field.0").write_text("written again")
        os.rename(self.copies / "new-a", self.stage / "a")
        wait_until((self.store / "sets" / "a+2").exists)
        self.assertEqual(["a", "b", "a+2"], self.listed())
        watch.terminate()


if __name__ == "__main__":
    main()
