#!/usr/bin/env python3
"""examples/slurm/job.sbatch on two nodes: a job that ends by itself, and one that is told that its time is nearly over."""

import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from bed import Bed, why_not  # noqa: E402
from support import COMMAND, SOURCE, forebay, main  # noqa: E402

# Each of two tasks writes its rank's file of each set, and renames the set into place on its node.
APPLICATION = """
for step in $(seq 1 $1); do
  set=$FOREBAY_STAGE/.s$step.part
  mkdir -p $set $COPIES/s$step
  seq $SLURM_PROCID 5000 > $set/state.rank$SLURM_PROCID
  cp -p $set/state.rank$SLURM_PROCID $COPIES/s$step
  mv $set $FOREBAY_STAGE/s$step
  sleep 0.5
done
touch $COPIES/done-$SLURM_PROCID
[ $# = 1 ] || sleep 1000
"""


class SlurmJob(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="forebay-slurm-", dir="/tmp")
        cls.addClassCleanup(temporary.cleanup)
        cls.work = Path(temporary.name)
        cls.work.chmod(0o755)  # munged runs as another user
        (cls.work / "bed").mkdir()
        cls.bed = Bed(cls.work / "bed")
        cls.addClassCleanup(cls.bed.down)
        cls.bed.up()
        (cls.work / "bin").mkdir()
        (cls.work / "bin/forebay").symlink_to(Path(COMMAND).resolve())
        (cls.work / "application.sh").write_text(APPLICATION)

    def submit(self, name, *arguments):
        """The number of the job, and where the copies of its files are."""
        copies = self.work / f"copies-{name}"
        copies.mkdir()
        more = {
            "PATH": f"{self.work}/bin:{self.bed.environment['PATH']}", "STORE": str(self.work / f"store-{name}"),
            "COPIES": str(copies), "COMPLETE": "rename", "STAGE_OF_NODE": f"{self.work}/stage-$SLURM_JOB_ID-$SLURMD_NODENAME",
        }  # fmt: skip
        out = self.bed.call("sbatch", "--parsable", "--nodes=2", "--ntasks-per-node=1", "--time=10", f"--chdir={self.work}",
                            f"--output={self.work}/{name}.out", SOURCE / "examples/slurm/job.sbatch", "sh",
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

    def test_a_job_that_ends_by_itself(self):
        number, copies = self.submit("plain", 3)
        self.wait(number, "plain")
        self.assertIn("s3", self.check("plain", copies, 1))
        self.assertIn("stopped", self.text("plain"))

    def test_a_job_whose_time_is_nearly_over(self):
        number, copies = self.submit("signal", 3, "forever")
        end = time.monotonic() + 60
        while not all((copies / f"done-{rank}").exists() for rank in range(2)):
            self.assertLess(time.monotonic(), end, self.text("signal"))
            time.sleep(0.2)
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
