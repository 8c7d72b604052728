#!/usr/bin/env python3
"""agent, aggregator, status and stop: daemons that nobody starts but their user."""

import json
import os
import re
import signal

from job_support import JobTest, forebay, is_alive, main, wait_until


class Daemons(JobTest):
    def test_status_metrics_and_stop_with_drain(self):
        aggregator, agent = self.start_aggregator("--backlog", "block"), self.start_agent()
        wait_until(lambda: self.status().get("agent_count") == 1)
        self.run_application()
        wait_until(lambda: self.status().get("totals", {}).get("durable_count", 0) > 0)
        text = self.run_ok("status", "--rendezvous", self.rendezvous).out
        self.assertIn("1 agent and 1 aggregator", text)
        self.assertRegex(text, r"s0 +durable")
        metrics = self.run_ok("status", "--rendezvous", self.rendezvous, "--metrics").out
        self.assertTrue(metrics.endswith("# EOF\n"))
        self.assertRegex(metrics, r'(?m)^forebay_sets_total\{series="default",run="rendezvous",state="durable"\} [1-3]$')
        for line in metrics.splitlines():
            self.assertRegex(line, r'^(# (TYPE|HELP|UNIT|EOF).*|forebay_\w+(\{(\w+="[^"]*",?)*\})? [-+0-9.e]+)$')
        types = re.findall(r"(?m)^# TYPE (\w+)", metrics)
        self.assertEqual(len(types), len(set(types)))
        answer = self.run_ok("stop", "--drain", "--timeout", 60, "--rendezvous", self.rendezvous, "--json")
        self.assertEqual(3, answer.json["status"]["totals"]["durable_count"])
        self.assertEqual((0, 0), (agent.wait(20), aggregator.wait(20)))
        self.assertEqual(["s0", "s1", "s2"], self.sets())

    def test_a_stop_that_is_held_up_hears_how_it_ended(self):
        """The coordinator has closed the connection when the command asks for the status again."""
        log = self.work / "aggregator.log"
        aggregator, agent = self.start_aggregator("--log", log), self.start_agent()
        wait_until(lambda: self.status().get("agent_count") == 1)
        self.run_application()
        stop = self.start("stop", "--drain", "--timeout", 60, "--rendezvous", self.rendezvous, "--json")
        wait_until(lambda: "the job ends when" in log.read_text())
        stop.send_signal(signal.SIGSTOP)
        self.assertEqual((0, 0), (agent.wait(40), aggregator.wait(40)))
        stop.send_signal(signal.SIGCONT)
        out, err = stop.communicate(timeout=60)
        self.assertEqual((0, 3), (stop.returncode, json.loads(out)["status"]["totals"]["durable_count"]), out + err)

    def test_stop_without_drain_leaves_the_sets_to_the_next_daemons(self):
        agent, aggregator = self.start_agent(), self.start_aggregator("--pfs-limit", 20_000, "--profile", "none")
        wait_until(lambda: self.status().get("agent_count") == 1)
        self.run_application("--sets", 1)
        self.run_ok("stop", "--rendezvous", self.rendezvous)
        self.assertEqual((0, 0), (agent.wait(30), aggregator.wait(30)))
        self.assertTrue((self.stage / "s0").exists())
        self.start_agent()
        self.start_aggregator()
        wait_until(lambda: self.status().get("agent_count") == 1)
        self.run_ok("stop", "--drain", "--timeout", 60, "--rendezvous", self.rendezvous)
        self.assertEqual(["s0"], self.sets())

    def test_detached_daemons_survive_their_starter_and_log(self):
        pids = []
        for name, words in {"aggregator": ["aggregator", "--store", self.store, "--agents", 1],
                            "agent": ["agent", "--stage", self.stage, "--complete", "rename"]}.items():  # fmt: skip
            log, file = self.work / f"{name}.log", self.work / f"{name}.pid"
            answer = self.run_ok(*words, "--rendezvous", self.rendezvous, "--background", "--log", log, "--pid-file", file)
            pid = int(file.read_text())
            self.addCleanup(lambda pid=pid: os.kill(pid, signal.SIGKILL) if is_alive(pid) else None)
            self.assertEqual(f"pid {pid}", answer.out.splitlines()[-1])
            self.assertNotEqual(os.getsid(0), os.getsid(pid))
            pids.append(pid)
        self.run_application()
        wait_until(lambda: self.status().get("totals", {}).get("durable_count", 0) > 0)
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not any(map(is_alive, pids)))
        for name in ("aggregator", "agent"):
            self.assertIn("ends after signal 15", (self.work / f"{name}.log").read_text())
            self.assertFalse((self.work / f"{name}.pid").exists())

    def test_daemons_that_linger_end_when_nobody_needs_them(self):
        agent, aggregator = self.start_agent("--linger", 2), self.start_aggregator("--linger", 2)
        wait_until(lambda: self.status().get("agent_count") == 1)
        self.run_application("--sets", 8)  # takes longer than they linger
        self.assertEqual((0, 0), (agent.wait(30), aggregator.wait(30)))
        self.assertIn("nobody has needed this agent for a while: it ends", agent.stderr.read())
        self.assertEqual("s7", self.sets()[-1])
        self.start_agent("--linger", 60)
        self.start_aggregator("--linger", 60)
        wait_until(lambda: self.status().get("agent_count") == 1)

    def test_the_next_coordinator_knows_what_the_one_before_has_decided(self):
        aggregator, _ = self.start_aggregator(), self.start_agent()
        wait_until(lambda: self.status().get("agent_count") == 1)
        self.run_application()
        wait_until(lambda: self.status().get("totals", {}).get("durable_count", 0) > 0)
        self.run_ok("stop", "--rendezvous", self.rendezvous, "--node", "elsewhere")
        before = self.status()
        aggregator.kill()
        aggregator.wait(10)
        self.assertTrue((self.rendezvous / "decisions.1/1").exists())
        aggregator = self.start_aggregator()
        wait_until(lambda: self.status().get("agent_count") == 1)
        after = self.status()
        self.assertEqual((2, ["elsewhere"]), (after["generation"], after["excluded"]))
        self.assertGreaterEqual(after["totals"]["durable_count"], before["totals"]["durable_count"])

        # A log that cannot be written holds back what follows from decisions, and nothing else.
        log, away = self.rendezvous / "decisions.2", self.work / "away"
        log.rename(away)
        log.symlink_to(log.name)
        self.run_application("--sets", 5, "--restart", self.copies / "s2")
        wait_until(lambda: self.status().get("log_silent_seconds", 0) > 0)
        self.assertIn("a decision cannot be logged", "\n".join(self.status()["errors"]))
        log.unlink()
        away.rename(log)
        self.run_ok("stop", "--drain", "--settle", "--timeout", 60, "--rendezvous", self.rendezvous)
        self.assertEqual(0, aggregator.wait(30))
        self.assertIn("s4", self.sets())
        self.assertFalse(self.rendezvous.exists())

    def test_a_second_agent_of_a_stage_is_refused(self):
        self.start_agent()
        answer = self.run_error(4, "agent", "--stage", self.stage, "--rendezvous", self.rendezvous, "--background")
        self.assertIn("stage", answer.err)

    def test_what_is_left_over_of_a_dead_job(self):
        aggregator = self.start_aggregator()
        wait_until(lambda: self.status())
        aggregator.kill()
        aggregator.wait()
        answer = forebay("status", "--rendezvous", self.rendezvous)
        self.assertEqual(1, answer.code, answer.err)
        self.assertEqual(1, answer.err.count("\n"), answer.err)


if __name__ == "__main__":
    main()
