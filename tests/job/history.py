#!/usr/bin/env python3
"""What remains of jobs that ended, in whatever way, and how the one that runs is told from them."""

import calendar
import os
import subprocess
import sys
import time

from job_support import COMMAND, JobTest, environment, forebay, main, wait_until


class History(JobTest):
    def start_job(self, *application):
        """A run whose sets are durable, and its directory."""
        before = self.jobs()
        process = self.start("run", "--store", self.store, "--stage", self.stage, "--complete", "rename", "--backlog", "block",
                             "--", sys.executable, self.application, "--sets", 1, *application)  # fmt: skip
        wait_until(lambda: self.jobs() - before)
        (name,) = self.jobs() - before
        return process, self.store / "jobs" / name

    def jobs(self):
        directory = self.store / "jobs"
        return {name for name in os.listdir(directory) if not name.startswith(".")} if directory.exists() else set()

    def kill(self, process):
        process.kill()
        process.wait()
        wait_until(lambda: not self.processes())

    def history(self):
        answer = self.run_ok("status", "--history", "--store", self.store, "--json")
        return {one["job"]: one for one in answer.json["jobs"]}

    def test_the_living_one_is_found_among_the_dead(self):
        dead = []
        for _ in range(2):
            process, directory = self.start_job("--wait")
            wait_until((directory / "coordinator.1").exists)
            self.kill(process)
            self.assertTrue((directory / "secret").exists())
            dead.append(directory)
        answer = forebay("stop", "--store", self.store)
        self.assertEqual(3, answer.code, answer.err)
        self.assertIn("no job of 'forebay run' runs", answer.err)
        process, living = self.start_job("--wait")
        wait_until(lambda: forebay("status", "--store", self.store, "--json").code == 0)
        for directory in dead:
            self.assertEqual({"summary", "log"}, set(os.listdir(directory)))
            self.assertTrue((directory / "log/aggregator-1").exists())
            answer = forebay("status", "--store", self.store, "--job", directory.name)
            self.assertEqual(3, answer.code, answer.err)
            self.assertIn("does not run any more", answer.err)
        self.assertTrue((living / "secret").exists())
        jobs = self.history()
        self.assertEqual({*(one.name for one in dead), living.name}, set(jobs))
        self.assertEqual(("running", process.pid), (jobs[living.name]["state"], jobs[living.name]["pid"]))
        for one in dead:
            self.assertEqual(("ended", "died", str(one / "log")), tuple(jobs[one.name][key] for key in ("state", "outcome", "log_directory")))
            self.assertIn("--sets 1 --wait", jobs[one.name]["command"])
        self.run_ok("stop", "--drain", "--timeout", 60, "--store", self.store)
        self.kill(process)

    def test_what_became_of_a_job(self):
        process, directory = self.start_job("--exit", 5)
        process.communicate(timeout=100)
        self.assertEqual(5, process.returncode)
        self.assertEqual([], self.processes())
        self.assertEqual(["summary"], os.listdir(directory))
        (job,) = self.history().values()
        told = {key: job[key] for key in ("outcome", "exit_code", "launch_count", "daemon_death_count", "drained", "log_directory")}
        self.assertEqual(
            {"outcome": "ended", "exit_code": 5, "launch_count": 1, "daemon_death_count": 0, "drained": True, "log_directory": None}, told)
        self.assertEqual((1, 0, 0), tuple(job["totals"][key] for key in ("durable_count", "skipped_count", "failed_count")))
        ended = calendar.timegm(time.strptime(job["ended"][:19], "%Y-%m-%dT%H:%M:%S"))
        self.assertLess(abs(time.time() - ended), 100)
        text = self.run_ok("status", "--history", "--store", self.store).out
        self.assertRegex(text, rf"(?m)^{directory.name} .* 1 +1 +0 +0 +0 +- +exit code 5 +.*python")

    def test_an_id_of_the_batch_system_that_comes_again(self):
        """As a job that is requeued has it."""
        for _ in range(2):
            done = subprocess.run(
                [COMMAND, "run", "--store", self.store, "--stage", self.stage, "--", "true"], capture_output=True, timeout=60,
                env=environment(SLURM_JOB_ID="4711"))  # fmt: skip
            self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual({"4711", "4711.2"}, set(self.history()))


if __name__ == "__main__":
    main()
