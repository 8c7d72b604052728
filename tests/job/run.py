#!/usr/bin/env python3
"""forebay run: an application that writes sets by rename, and around it everything that drains them."""

import json
import os
import shutil
import signal
import subprocess
import sys

from job_support import COMMAND, JobTest, environment, main, wait_until


class Run(JobTest):
    def words(self, *options, application=()):
        return ["run", "--store", self.store, "--stage", self.stage, "--complete", "rename", "--backlog", "block", *options,
                "--", sys.executable, self.application, *application]  # fmt: skip

    def finish(self, process, code):
        out, err = process.communicate(timeout=100)
        self.assertEqual(code, process.returncode, out + err)
        self.assertEqual([], self.processes())
        return out, err

    def run_job(self, code, *options, application=()):
        return self.finish(self.start(*self.words(*options, application=application)), code)

    def of_job(self, verb):
        return [pid for pid, word in self.processes() if word == verb]

    def test_drains_and_passes_the_exit_code_on(self):
        _, err = self.run_job(7, application=["--exit", 7])
        self.assertRegex(err, r"(?m)^forebay: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} 3 sets durable, 0 skipped, 0 failed")
        self.assertEqual(["s0", "s1", "s2"], self.sets())
        (job,) = os.listdir(self.store / "jobs")
        self.assertEqual(["summary"], os.listdir(self.store / "jobs" / job))
        self.assertEqual({".forebay", "s2"}, set(os.listdir(self.stage)))

    def test_relaunches_from_the_newest_set(self):
        _, err = self.run_job(0, "--relaunch", 1, "--restart-args", "--restart {}", application=["--sets", 4, "--crash", 1])
        self.assertIn("signal 9 (Killed); it is started again (1 of 1)", err)
        self.assertEqual("0\n2\n", (self.copies / "starts").read_text())
        self.assertEqual(["s0", "s1", "s2", "s3"], self.sets())

    def test_encrypts_what_goes_over_tcp(self):
        _, err = self.run_job(0, "--encrypt", "--listen", "tcp:127.0.0.1:0", "--fabric", "stream", "--relaunch", 1,
                              "--restart-args", "--restart {}", application=["--sets", 4, "--crash", 1])  # fmt: skip
        self.assertEqual("0\n2\n", (self.copies / "starts").read_text(), err)
        self.assertEqual(["s0", "s1", "s2", "s3"], self.sets())
        for options in (["--munge"], ["--fabric", "ucx"]):
            _, err = self.run_job(2, "--encrypt", *options)
            self.assertIn("--encrypt takes its keys from the job's secret", err)

    def test_a_checkpoint_that_the_application_cannot_read_is_set_aside(self):
        _, err = self.run_job(0, "--relaunch", 4, "--restart-args", "--restart {}", "--relaunch-pause", 0.1,
                              application=["--sets", 4, "--truncate", 1])  # fmt: skip
        self.assertEqual("0\n2\n", (self.copies / "starts").read_text(), err)
        self.assertIn("2 starts from the set s2 completed no new set: it is set aside, and the next start is from the set before it", err)
        rows = {row["name"]: row for row in json.loads(self.run_ok("ls", self.store, "--json").out)["sets"]}
        self.assertIn("2 starts from the set s2", rows["s2"]["set_aside"])
        self.assertEqual({"s0", "s1", "s2", "s2+2", "s3"}, set(rows))
        self.assertEqual(3, err.count("it is started again"))

    def test_a_checkpoint_with_far_fewer_bytes_is_the_last_choice(self):
        _, err = self.run_job(0, "--relaunch", 2, "--restart-args", "--restart {}", "--relaunch-pause", 0.1,
                              application=["--sets", 4, "--truncate", 1, "--with", "cut"])  # fmt: skip
        self.assertEqual("0\n2\n", (self.copies / "starts").read_text(), err)
        rows = {row["name"]: row for row in json.loads(self.run_ok("ls", self.store, "--json").out)["sets"]}
        self.assertIn("the set before it had 4", rows["s2"]["suspect"])
        self.assertEqual({"s0", "s1", "s2", "s2+2", "s3"}, set(rows))

    def test_the_only_set_is_tried_again(self):
        """The application never starts from scratch while there is a set."""
        script = self.work / "never.sh"
        script.write_text('[ $# = 0 ] || exit 3\nmkdir $FOREBAY_STAGE/.a\necho 1 > $FOREBAY_STAGE/.a/f.rank0\n'
                          "mv $FOREBAY_STAGE/.a $FOREBAY_STAGE/a\nsleep 1\nexit 2\n")  # fmt: skip
        process = self.start("run", "--store", self.store, "--stage", self.stage, "--complete", "rename", "--relaunch", 3,
                             "--restart-args", "{}", "--relaunch-pause", 0.1, "--", "sh", script)  # fmt: skip
        _, err = self.finish(process, 3)
        self.assertIn("2 starts from the set a completed no new set; it is tried again, since the series has no other", err)
        (row,) = json.loads(self.run_ok("ls", self.store, "--json").out)["sets"]
        self.assertEqual(("a", False), (row["name"], row["set_aside"] is not None))

    def test_numbers_the_starts_of_the_application(self):
        process = self.start("run", "--store", self.store, "--stage", self.stage, "--relaunch", 1, "--", "sh", "-c",
                             "echo start $FOREBAY_ATTEMPT; [ $FOREBAY_ATTEMPT = 2 ]")  # fmt: skip
        out, _ = self.finish(process, 0)
        self.assertEqual("start 1\nstart 2\n", out)

    def test_relaunches_from_a_set_that_is_still_on_its_way_to_an_empty_store(self):
        self.run_job(0, "--relaunch", 1, "--restart-args", "--restart {}", "--pfs-limit", "2K",
                     application=["--sets", 2, "--crash", 0])  # fmt: skip
        self.assertEqual("0\n1\n", (self.copies / "starts").read_text())
        self.assertEqual(["s0", "s1"], self.sets())

    def test_an_application_that_hangs_is_started_again(self):
        for how, option, why in (("--hang", "--hang-timeout", "used no processor time for 3 s"),
                                 ("--spin", "--set-interval", "completed no set for 3 s")):  # fmt: skip
            with self.subTest(how):
                out, err = self.run_job(0, "--relaunch", 1, "--restart-args", "--restart {}", option, 3, "--json",
                                        application=["--sets", 3, how, 1])  # fmt: skip
                self.assertIn("the application is ended: it hangs: ", err)
                self.assertIn(why, err)
                self.assertIn("as it hangs", err)
                self.assertEqual("0\n2\n", (self.copies / "starts").read_text())
                self.assertEqual(["s0", "s1", "s2"], self.sets())
                self.assertEqual((2, None), (json.loads(out)["launch_count"], json.loads(out)["ended_because"]))
                for path in (self.copies, self.store, self.stage, self.work / "restored"):
                    shutil.rmtree(path)
                self.copies.mkdir()
                (self.work / "restored").mkdir()

    def test_an_application_that_hangs_and_is_not_started_again_has_failed(self):
        script = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
        process = self.start("run", "--store", self.store, "--stage", self.stage, "--hang-timeout", 2, "--", "sh", "-c", script)
        _, err = self.finish(process, 1)
        self.assertIn("the application is ended: it hangs", err)

    def test_the_file_of_nodes(self):
        (self.work / "hosts").write_text("localhost slots=2\nspare1 slots=2\nspare2 slots=2\n")
        site = self.work / "site"  # of the whole machine: it has nodes that are not of the job
        site.write_text("localhost rack=r1\nspare1 rack=r1\nelsewhere rack=r7\n")
        for words in (("--spares", 2, "--failure-groups", site), ("--ranks", 2)):
            process = self.start("run", "--store", self.store, "--stage", self.stage, "--nodes-file", self.work / "hosts",
                                 *words, "--", "sh", "-c", 'cat $FOREBAY_NODES_FILE; cmp "$1" $FOREBAY_NODES_FILE', "x",
                                 "{nodes}")  # fmt: skip
            out, _ = self.finish(process, 0)
            self.assertEqual("localhost slots=2\n", out)
        (self.work / "others").write_text("elsewhere rack=r7\n")
        for words, why in ((("--spares", 3), "of 3 nodes 3 cannot be spare"), (("--spares", 1, "--ranks", 2), "--ranks"),
                           (("--failure-groups", self.work / "others"), "names no node of the job")):  # fmt: skip
            answer = self.run_error(2, "run", "--store", self.store, "--stage", self.stage, "--nodes-file",
                                    self.work / "hosts", *words, "--", "true")  # fmt: skip
            self.assertIn(why, answer.err)

    def test_restores_what_an_earlier_job_has_stored(self):
        self.run_job(0, "--series", "one", application=["--sets", 2])
        for name in os.listdir(self.stage):
            if name.startswith("s"):
                os.rename(self.stage / name, self.work / ("gone-" + name))
        self.run_job(0, "--series", "one", "--restart-args", "--restart {}", application=["--sets", 3])
        self.assertEqual("0\n2\n", (self.copies / "starts").read_text())
        self.assertEqual(["s0", "s1", "s2"], self.sets())

    def test_json(self):
        out, _ = self.run_job(0, "--json")
        answer = json.loads(out)
        self.assertEqual((0, 1, True), (answer["exit_code"], answer["launch_count"], answer["drained"]))
        self.assertEqual(3, answer["status"]["totals"]["durable_count"])

    def test_a_signal_drains_and_a_second_one_leaves(self):
        process = self.start(*self.words(application=["--wait"]))
        wait_until((self.stage / "s2").exists)
        process.send_signal(signal.SIGINT)
        _, err = self.finish(process, 130)
        self.assertIn("3 sets durable", err)
        self.assertEqual(["s0", "s1", "s2"], self.sets())
        process = self.start("run", "--store", self.store, "--stage", self.stage, "--", "sh", "-c",
                             "trap '' TERM; touch started; while :; do sleep 0.1; done")  # fmt: skip
        wait_until((self.work / "started").exists)
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: "told to end" in process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        self.finish(process, 137)

    def test_daemons_that_are_killed_are_started_again(self):
        process = self.start(*self.words("--set-timeout", 30, application=["--sets", 6, "--pause", 0.5]))
        wait_until((self.copies / "s1").exists)
        for verb in ("agent", "aggregator"):
            for pid in self.of_job(verb):
                os.kill(pid, signal.SIGKILL)
        _, err = self.finish(process, 0)
        self.assertEqual(2, err.count("ended with signal 9"), err)
        self.assertIn("the logs of the daemons are in", err)
        self.assertEqual([f"s{i}" for i in range(6)], self.sets())

    def test_nothing_survives_a_kill(self):
        process = self.start(*self.words(application=["--wait"]))
        wait_until((self.stage / "s2").exists)
        process.kill()
        process.wait()
        wait_until(lambda: not self.processes())

    def test_an_application_that_ignores_signals_does_not_survive_a_kill(self):
        """Also what has a session of its own, and a parent that is gone."""
        loop = f"trap '' TERM HUP INT; while :; do sleep 0.1; done # {self.work}"
        script = self.work / "stubborn.sh"
        script.write_text(f'(setsid sh -c "{loop}" &)\nsh -c "{loop}" &\ntouch {self.work}/started\n{loop}\n')
        process = self.start("run", "--store", self.store, "--stage", self.stage, "--grace", 1, "--", "sh", script)
        wait_until((self.work / "started").exists)
        process.kill()
        process.wait()
        self.assertTrue(self.processes())
        wait_until(lambda: not self.processes())

    def test_nodes_by_a_launcher(self):
        """Two nodes that are this one, each with a stage of its own."""
        launcher = self.work / "launcher"
        launcher.write_text(
            '#!/bin/sh\nnode=$1; shift\nexec sh -c "$(echo "$*" | sed "s,$NODES/stage,$NODES/$node.stage,g")"\n')
        launcher.chmod(0o755)
        (self.work / "hosts").write_text("node1:2\nnode2:2\n")
        script = self.work / "write.sh"
        script.write_text(
            'mkdir -p "$COPIES/d1"\nfor rank in 0 1 2 3; do\n  node=node$((rank / 2 + 1))\n'
            '  mkdir -p "$NODES/$node.stage/.d1.part"\n'
            '  seq $rank 3000 > "$NODES/$node.stage/.d1.part/a.rank$rank"; cp -p "$NODES/$node.stage/.d1.part/a.rank$rank" "$COPIES/d1"\n'
            'done\nfor node in node1 node2; do mv "$NODES/$node.stage/.d1.part" "$NODES/$node.stage/d1"; done\nsleep 1\n')
        env = environment(**self.env(), NODES=str(self.work))
        done = subprocess.run(
            [COMMAND, "run", "--store", self.store, "--stage", self.stage, "--complete", "rename", "--nodes-file", "hosts",
             "--aggregators", "2", "--launcher", str(launcher), "--restart-args", "{}", "--series", "one", "--", "sh", script],
            cwd=self.work, env=env, capture_output=True, text=True, timeout=100)  # fmt: skip
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual([], self.processes())
        self.assertEqual({"a.rank0", "a.rank1", "a.rank2", "a.rank3"}, set(os.listdir(self.copies / "d1")))
        restored = self.work / "restored/d1"
        self.run_ok("restore", "d1", "--store", self.store, "--to", restored)
        for rank in range(4):
            self.assertEqual((self.copies / f"d1/a.rank{rank}").read_bytes(), (restored / f"a.rank{rank}").read_bytes())
        # A restart brings each node its own ranks.
        for node in ("node1", "node2"):
            for name in os.listdir(self.work / f"{node}.stage"):
                if not name.startswith("."):
                    os.rename(self.work / f"{node}.stage" / name, self.work / f"gone-{node}")
        done = subprocess.run(
            [COMMAND, "run", "--store", self.store, "--stage", self.stage, "--nodes-file", "hosts", "--launcher", str(launcher),
             "--restart-args", "{}", "--series", "one", "--", "sh", "-c", "echo $1; ls $NODES/node1.stage/d1 $NODES/node2.stage/d1", "x"],
            cwd=self.work, env=env, capture_output=True, text=True, timeout=100)  # fmt: skip
        self.assertEqual(0, done.returncode, done.stderr)
        words = done.stdout.split()
        self.assertEqual(f"{self.stage}/d1", words[0], done.stdout + done.stderr)
        self.assertEqual(["a.rank0", "a.rank1"], words[2:4])
        self.assertEqual(["a.rank2", "a.rank3"], words[5:])


if __name__ == "__main__":
    main()
