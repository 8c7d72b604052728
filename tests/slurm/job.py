#!/usr/bin/env python3
"""The examples of Slurm jobs on two nodes: what happens at the end, when a rank dies, and when the time is nearly over."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from bed import Bed, why_not  # noqa: E402
from support import COMMAND, SOURCE, forebay, main  # noqa: E402

# application.sh SETS THEN [--restart DIRECTORY]. Each of two tasks writes its rank's file of each set, and renames the set into
# place on its node. THEN, unless it continues: "end"; "wait" for ever; or "die", with rank 1, while rank 0 waits for it. What it
# continues from must be what was written.
APPLICATION = """
sets=$1 then=$2 first=1
if [ "${3:-}" = --restart ]; then
  cmp "$4/state.rank$SLURM_PROCID" "$COPIES/${4##*/}/state.rank$SLURM_PROCID" || exit 9
  first=$((${4##*/s} + 1)) then=end
fi
echo $first >> $COPIES/starts-$SLURM_PROCID
for step in $(seq $first $sets); do
  set=$FOREBAY_STAGE/.s$step.part
  mkdir -p $set $COPIES/s$step
  seq $SLURM_PROCID 5000 > $set/state.rank$SLURM_PROCID
  cp -p $set/state.rank$SLURM_PROCID $COPIES/s$step
  mv $set $FOREBAY_STAGE/s$step
  sleep 0.5
done
touch $COPIES/done-$SLURM_PROCID
[ $then != die ] || [ $SLURM_PROCID != 1 ] || kill -9 $$
[ $then = end ] || exec sleep 1000
"""


class SlurmJob(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="forebay-slurm-", dir="/tmp")
        cls.addClassCleanup(temporary.cleanup)
        cls.work = Path(temporary.name)
        cls.work.chmod(0o755)  # munged runs as another user
        (cls.work / "bed").mkdir()
        cls.bed = Bed(cls.work / "bed", prolog=SOURCE / "examples/slurm/prolog.sh", epilog=SOURCE / "examples/slurm/epilog.sh")
        cls.addClassCleanup(cls.bed.down)
        cls.bed.up()
        (cls.work / "bin").mkdir()
        (cls.work / "bin/forebay").symlink_to(Path(COMMAND).resolve())
        (cls.work / "application.sh").write_text(APPLICATION)

    def submit(self, example, name, *arguments, minutes=10, **variables):
        """The number of the job, and where the copies of its files are."""
        copies = self.work / f"copies-{name}"
        copies.mkdir()
        more = {
            "PATH": f"{self.work}/bin:{self.bed.environment['PATH']}", "STORE": str(self.work / f"store-{name}"),
            "COPIES": str(copies), "COMPLETE": "rename", **variables,
        }  # fmt: skip
        out = self.bed.call("env", "-C", self.work, "sbatch", "--parsable", "--nodes=2", "--ntasks-per-node=1", f"--time={minutes}", f"--chdir={self.work}",
                            f"--output={self.work}/{name}.out", SOURCE / f"examples/slurm/{example}.sbatch", "sh",
                            f"{self.work}/application.sh", *map(str, arguments), **more)  # fmt: skip
        self.assertRegex(out, r"^\d+$")
        return out.strip(), copies

    def wait(self, number, name, seconds=90):
        end = time.monotonic() + seconds
        while self.bed.call("squeue", "-h", "-j", number, "-o", "%t").strip() not in ("", "CD", "F"):
            if time.monotonic() > end or "Invalid job" in self.bed.call("squeue", "-h", "-j", number):
                break
            time.sleep(0.5)
        self.assertLess(time.monotonic(), end, self.text(name))

    def text(self, name):
        logs = [self.work / f"{name}.out", *sorted(self.work.glob("forebay-*.log"))]
        return "".join(f"--- {log.name}\n{log.read_text()}" for log in logs if log.exists())

    def check(self, name, copies, least):
        store = self.work / f"store-{name}"
        answer = forebay("ls", store, "--json")
        self.assertEqual(0, answer.code, answer.err + self.text(name))
        names = [one["name"] for one in answer.json["sets"]]
        self.assertGreaterEqual(len(names), least, self.text(name))
        for one in names:
            target = self.work / f"restored-{name}-{one}"
            self.assertEqual(0, forebay("restore", one, "--store", store, "--to", target).code)
            for rank in range(2):
                file = f"state.rank{rank}"
                self.assertEqual((copies / one / file).read_bytes(), (target / file).read_bytes())
        return names

    def wait_for_ranks(self, name, copies):
        end = time.monotonic() + 60
        while not all((copies / f"done-{rank}").exists() for rank in range(2)):
            self.assertLess(time.monotonic(), end, self.text(name))
            time.sleep(0.2)

    def start_again(self, number, name, copies):
        """Returns when the application runs again. Slurm lets a job that was queued again wait for two minutes, which need not be so
        long; but the nodes refuse, and Slurm then fails, a job that starts in the second in which its first start was ended."""
        end, may_start = time.monotonic() + 170, None
        while len(self.starts(copies)[0]) < 2:
            state = self.bed.call("squeue", "-h", "-j", number, "-o", "%t %r").strip()
            if time.monotonic() > end:
                self.fail("".join((state, "\n", self.bed.call("scontrol", "show", "job", number), self.bed.call("sinfo", "-R", "-N", "-l"),
                                   self.bed.call("tail", "-n", "40", self.bed.directory / "slurmctld.log"), self.text(name))))  # fmt: skip
            if state == "PD BeginTime":
                may_start = may_start or time.monotonic() + 3
                if time.monotonic() > may_start:
                    self.bed.call("scontrol", "update", f"JobId={number}", "StartTime=now")
            time.sleep(0.5)

    def starts(self, copies):
        return [(copies / f"starts-{rank}").read_text().split() for rank in range(2)]

    def history(self, name):
        return forebay("status", "--history", "--store", self.work / f"store-{name}", "--json").json["jobs"]

    def test_a_rank_that_dies_is_followed_by_a_relaunch(self):
        number, copies = self.submit("job", "dies", 3, "die", RESTART_ARGS="--restart {}")
        self.wait(number, "dies")
        self.assertIn("it is started again (1 of 3)", self.text("dies"))
        self.assertEqual([["1", "4"], ["1", "4"]], self.starts(copies))
        self.assertIn("s3", self.check("dies", copies, 1))
        (job,) = self.history("dies")
        self.assertEqual((number, "n1", 0, 2, True), tuple(job[key] for key in ("job", "host", "exit_code", "launch_count", "drained")))

    def test_a_job_whose_time_is_over_is_queued_again_and_continues(self):
        number, copies = self.submit(
            "job", "over", 3, "wait", minutes=1, RESTART_ARGS="--restart {}", OPTIONS="--drain-before 40 --grace 5")
        self.wait_for_ranks("over", copies)
        self.start_again(number, "over", copies)
        self.wait(number, "over")
        text = self.text("over")
        self.assertIn("the time of the job is nearly over", text)
        self.assertIn("the job is queued again", text)
        self.assertNotIn("DUE TO TIME LIMIT", text)
        self.assertEqual([["1", "4"], ["1", "4"]], self.starts(copies))
        self.assertIn("s3", self.check("over", copies, 1))
        first, second = self.history("over")
        self.assertEqual((number, True, True), tuple(first[key] for key in ("job", "out_of_time", "drained")))
        self.assertEqual((f"{number}.2", None, 0), tuple(second[key] for key in ("job", "out_of_time", "exit_code")))

    def test_what_a_cancelled_job_leaves_in_the_nodes_is_removed_when_it_has_ended(self):
        number, copies = self.submit("job", "cancelled", 3, "wait")
        self.wait_for_ranks("cancelled", copies)
        stage = f"forebay-{number}"
        self.assertEqual([True, True], [stage in self.bed.memory(node) for node in (1, 2)])
        self.bed.call("scancel", "--full", "--signal=KILL", number)
        self.bed.call("scancel", number)
        end = time.monotonic() + 60
        while any(stage in self.bed.memory(node) for node in (1, 2)):
            self.assertLess(time.monotonic(), end, f"{self.bed.memory(1)} {self.bed.memory(2)} {self.text('cancelled')}")
            time.sleep(0.2)

    def test_a_node_without_room_is_refused(self):
        prolog = SOURCE / "examples/slurm/prolog.sh"
        self.assertEqual(0, subprocess.run([prolog], env={**os.environ, "FOREBAY_LEAST_MIB": "0"}, timeout=10).returncode)
        refused = subprocess.run([prolog], env={**os.environ, "FOREBAY_LEAST_MIB": str(10**9)}, timeout=10,
                                 capture_output=True, text=True)  # fmt: skip
        self.assertEqual(1, refused.returncode)
        self.assertRegex(refused.stderr, r"/dev/shm has \d+ MiB free, and jobs with Forebay need 1000000000\n")

    def by_hand(self, name, *arguments):
        return self.submit("by-hand", name, *arguments, STAGE_OF_NODE=f"{self.work}/stage-$SLURM_JOB_ID-$SLURMD_NODENAME")

    def test_by_hand_a_job_that_ends_by_itself(self):
        number, copies = self.by_hand("plain", 3, "end")
        self.wait(number, "plain")
        self.assertIn("s3", self.check("plain", copies, 1))
        self.assertIn("stopped", self.text("plain"))

    def test_by_hand_a_rank_that_dies_ends_the_job(self):
        number, copies = self.by_hand("killed", 3, "die")
        self.wait(number, "killed")
        self.assertIn("s3", self.check("killed", copies, 1))

    def test_by_hand_a_job_whose_time_is_nearly_over(self):
        number, copies = self.by_hand("signal", 3, "wait")
        self.wait_for_ranks("signal", copies)
        self.bed.call("scancel", "--batch", "--signal=USR1", number)
        self.wait(number, "signal")
        self.assertIn("the time is nearly over", self.text("signal"))
        self.assertIn("s3", self.check("signal", copies, 1))


if __name__ == "__main__":
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    main()
