"""Carries out the measurements of bench/overhead."""
import csv
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from kit import overhead_plan as plan, workspace

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/bad_days"))
from job import Job, wait_until  # noqa: E402
from nodes import Nodes, Unavailable  # noqa: E402

CELLS = 16  # of the gas: its steps between two checkpoints take next to nothing
MOST_SECONDS = 600
AGGREGATORS_NICE = "10"


def on_cores(cores):
    return ("taskset", "-c", ",".join(map(str, cores)))


def processor_time(daemon):
    """Of all its threads so far, in seconds, by the clock that clock_getcpuclockid(3) gives."""
    return time.clock_gettime(~daemon.pid << 3 | 2)


class Follower:
    """Does something with each checkpoint when all its files are there, in a thread of its own."""

    def __init__(self, source, ranks, sets, action):
        self._source, self._ranks, self._sets, self._action = source, ranks, sets, action
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._done = 0
        self._thread.start()

    def _run(self):
        for number in range(self._sets):
            checkpoint = self._source / f"dump_{number:04}"
            wait_until(checkpoint.name, lambda: len(list(checkpoint.glob("rank*.h5"))) == self._ranks, MOST_SECONDS)
            self._action(checkpoint)
            self._done += 1

    def finish(self):
        self._thread.join(MOST_SECONDS)
        if self._done != self._sets:
            raise SystemExit(f"only {self._done} of {self._sets} checkpoints were followed")


class Runner:
    """Stages are below `work`, in memory; what is drained goes below `pfs`."""

    def __init__(self, programs, pfs, work, load, log):
        self._programs, self._pfs, self._work, self._load, self._log = programs, Path(pfs), work, load, log
        self._mpiexec = shutil.which("mpiexec.mpich") or "mpiexec"
        try:
            self._nodes = Nodes(2)
        except Unavailable as reason:
            print(f"no arm with another node: {reason}", file=sys.stderr)
            self._nodes = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._nodes:
            self._nodes.remove()

    def can(self, arm):
        return self._nodes is not None or not arm.remote

    def run(self, case, arm):
        units = self._units(case)
        target = self._pfs / f"overhead-{os.getpid()}"
        try:
            run = self._through_forebay if arm.forebay else self._without
            record = run(case, arm, units, target)
        finally:
            workspace.remove(target)
        self._log.add(plan.key_of(case, arm, self._load), units=units, **record)

    def _units(self, case):
        """The same amount of work for all arms and rounds: what once took the seconds that were asked for."""
        key = plan.calibration_key(case, self._load)
        if not self._log.select(**key):
            out = self._work / "calibration"
            said, _ = self._simulate(case, out, ["--work", self._load.seconds, "--steps", 1])
            workspace.remove(out)
            self._log.add(key, units=int(said.split("work units per interval: ")[1].split()[0]))
        return self._log.select(**key)[-1]["units"]

    def _simulate(self, case, out, words, environment=(), prefix=()):
        """What the simulation says, and how long it took on the clock."""
        ranks = len(case.rank_cores)
        bind = ["-bind-to", "user:" + ",".join(map(str, case.rank_cores))]
        command = [*prefix, self._mpiexec, *bind, "-n", ranks, self._programs / "forebay-mini-sim", "--cells", CELLS, "--every", 1,
                   "--out", out, *words]
        began = time.perf_counter()
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=MOST_SECONDS,
                              env={**os.environ, **dict(environment)}, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout, time.perf_counter() - began

    def _measure(self, case, out, units, words=(), environment=(), prefix=()):
        """The compute intervals of each rank, and the seconds of the whole run."""
        table = self._work / "intervals.csv"
        load = ["--steps", self._load.intervals, "--work-units", units, "--ballast", f"{self._load.megabytes * 1000000}"]
        _, wall = self._simulate(case, out, [*load, "--intervals", table, *words], environment, prefix)
        rows = {}
        with table.open() as file:
            for row in csv.DictReader(file):
                rows.setdefault(int(row["rank"]), []).append(float(row["seconds"]))
        return {"intervals": [rows[rank] for rank in sorted(rows)], "wall": wall}

    def _without(self, case, arm, units, target):
        if arm == plan.DIRECT:
            return self._measure(case, target, units)
        stage = self._work / "stage"
        try:
            action = self._beside(case, arm, target)
            follower = Follower(stage, len(case.rank_cores), self._load.intervals + 1, action)
            record = self._measure(case, stage, units)
            follower.finish()
            return record | self._removal(stage)
        finally:
            workspace.remove(stage)
            workspace.remove(self._work / "other")

    def _beside(self, case, arm, target):
        """What is done with each checkpoint of an arm that does not go through Forebay."""
        def copy(checkpoint):
            (target / checkpoint.name).mkdir(parents=True)
            for path in sorted(checkpoint.glob("rank*.h5")):
                copied = target / checkpoint.name / path.name
                command = ["dd", f"if={path}", f"of={copied}", "bs=1M", "conv=fsync", "status=none"]
                subprocess.run([*on_cores(case.rank_cores), *command], check=True)

        def pack_another(checkpoint):
            command = [self._programs / "forebay", "pack", self._work / "other/dump_0001", "--store", target, "--name",
                       checkpoint.name, "--memory", "2G", "--threads", len(case.transfer_cores)]
            subprocess.run([*on_cores(case.transfer_cores), "nice", "-n", AGGREGATORS_NICE, *map(str, command)], check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

        if arm == plan.NO_DRAIN:
            return lambda _: None
        if arm == plan.COPY:
            return copy
        self._simulate(case, self._work / "other", ["--steps", 1, "--ballast", f"{self._load.megabytes * 1000000}"])
        return pack_another

    @staticmethod
    def _removal(stage):
        """The processor time that it takes to give back the memory of the checkpoints: whoever removes them pays it."""
        removed, began = workspace.bytes_below(stage), time.process_time()
        workspace.remove(stage)
        return {"removed": removed, "removal_cpu": time.process_time() - began}

    def _through_forebay(self, case, arm, units, target):
        ranks, last = len(case.rank_cores), f"dump_{self._load.intervals:04}"
        prefixes = [on_cores(case.rank_cores), on_cores(case.transfer_cores)]
        node = ()
        if arm.remote:
            node = self._nodes.prefix(0)
            prefixes = [(*self._nodes.prefix(i), *prefixes[i]) for i in (0, 1)]
        words = ("--memory", "2G", "--threads", len(case.transfer_cores))
        with Job(self._programs / "forebay", None, ranks=ranks, store=target, prefixes=prefixes, defaults=words) as job:
            job.start()
            before = [processor_time(daemon) for daemon in (job.agents[0], job.aggregators[0])]
            durable = ["--durable"] if arm.durable else []
            record = self._measure(case, "unused", units, durable, {"FOREBAY_STAGE": str(job.stages[0])}, node)
            wait_until(f"{last} is durable", lambda: last in job.stored_sets(), MOST_SECONDS)
            after = [processor_time(daemon) for daemon in (job.agents[0], job.aggregators[0])]
            agent, aggregator = (end - start for end, start in zip(after, before))
            return record | {"agent_cpu": agent, "aggregator_cpu": aggregator} | self._stored(target)

    def _stored(self, store):
        said = subprocess.run([self._programs / "forebay", "ls", "--store", store, "--json"], capture_output=True, check=True)
        sets = json.loads(said.stdout)["sets"]
        return {"sets": len(sets), "raw": sum(one["raw_bytes"] for one in sets),
                "stored": sum(one["stored_bytes"] for one in sets)}
