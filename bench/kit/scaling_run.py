"""Carries out the measurements of bench/scaling."""
import shutil
import subprocess
import sys
import time
from pathlib import Path

from kit import scaling_plan as plan, workspace

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/bad_days"))
import client  # noqa: E402
from job import Job, wait_until  # noqa: E402

MOST_SECONDS = 600
# Not of a set: they come by the clock, or because of this program.
BY_THE_CLOCK = ("Ping", "TaskProgress", "StatusRequest", "Status")
CONTROL_SETS, CONTROL_FILES = 5, 1
CONTROL_COLUMNS = ("ranks", "files", "microseconds", "longest_ms", "messages", "bytes", "idle_mb", "peak_mb", "after_mb")


def peak_memory(daemon):
    """In bytes, since it was started."""
    for line in Path(f"/proc/{daemon.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise SystemExit(f"{daemon.name} is gone")


def peaks(job):
    return {"agent": max(map(peak_memory, job.agents)), "aggregator": max(map(peak_memory, job.aggregators))}


def traffic(before, after):
    """Messages and bytes of both directions by kind, between two answers of the coordinator."""
    found = {}
    for way in ("received", "sent"):
        for kind, now in after[way].items():
            then = before[way].get(kind, {"message_count": 0, "message_bytes": 0})
            more = {"messages": now["message_count"] - then["message_count"], "bytes": now["message_bytes"] - then["message_bytes"]}
            if kind not in BY_THE_CLOCK and more["messages"] > 0:
                found[kind] = more
    return found


def durable(status):
    return {one["name"]: one for one in status["past_sets"] if one["state"] == "durable"}


class Runner:
    def __init__(self, programs, work, log):
        self._programs, self._work, self._log = programs, work, log
        self._library = client.Library(programs.parent / "lib" / "libforebay.so")

    def control(self, ranks):
        command = [self._programs / "forebay-control-bench", str(ranks), str(CONTROL_FILES), str(CONTROL_SETS)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        figures = dict(zip(CONTROL_COLUMNS, map(float, said.splitlines()[-1].split())))
        if figures["ranks"] != ranks:
            raise SystemExit(f"forebay-control-bench says {said}")
        self._log.add(plan.control_key(ranks), **figures)

    def run(self, case):
        files = self._files(case.load)
        words = ("--peer-timeout", 60, "--set-timeout", MOST_SECONDS, "--stall-timeout", 120, "--memory", f"{case.memory}M",
                 "--group-size", case.group, "--profile", "fast", "--fabric", case.transport)
        if case.limit:
            words += ("--pfs-limit", round(case.limit * 1e6))
        with Job(self._programs / "forebay", self._library, nodes=case.nodes, ranks=case.load.ranks, defaults=words,
                 agent_words=("--fabric", case.transport)) as job:
            job.start(aggregators=case.aggregators)
            for rank in range(case.load.ranks):
                job.rank(rank)
            before = wait_until("everybody is there", lambda: self._all_there(job, case))
            drains = [self._drain(job, case, files, f"dump_{number:04}") for number in range(case.sets)]
            drained = job.status()
            record = {"drain": drains, "drain_peak": peaks(job), "drain_traffic": traffic(before, drained)}
            record |= self._restart(job, files)
            record |= {"restart_peak": peaks(job), "restart_traffic": traffic(drained, job.status()),
                       "raw": sum(file.stat().st_size for file in files), "stored": durable(drained)["dump_0000"]["stored_bytes"]}
        self._log.add(case.key, **record)

    @staticmethod
    def _all_there(job, case):
        status = job.status()
        return status if status and (status["agent_count"], status["worker_count"]) == (case.nodes, case.aggregators) else None

    def _files(self, load):
        directory = self._work / load.name
        if not directory.exists():
            subprocess.run([self._programs / "forebay-many-variables", directory, str(load.ranks), str(load.variables),
                            str(load.join)], check=True)
        return workspace.files_below(directory)

    @staticmethod
    def _drain(job, case, files, name):
        """The seconds from when the last rank has completed the set until it is durable."""
        for rank, file in enumerate(files):
            job.rank(rank).begin(name, int(name[-4:]))
            shutil.copyfile(file, job.rank(rank).path(file.name))
        for rank in range(case.load.ranks - 1):
            job.rank(rank).complete()
        began = time.perf_counter()
        job.rank(case.load.ranks - 1).complete()
        job.expect_durable(name, MOST_SECONDS)
        return time.perf_counter() - began

    @staticmethod
    def _restart(job, files):
        """As by an application that starts again: connecting does not count."""
        job.forget_ranks()
        for rank in range(len(files)):
            job.rank(rank)
        began = time.perf_counter()
        job.restart(MOST_SECONDS)
        seconds = time.perf_counter() - began
        for rank, file in enumerate(files):
            said = workspace.difference(file, job.rank(rank).restart_path(file.name), metadata=False)
            if said:
                raise SystemExit(f"wrong bytes: {said}")
        return {"restart": seconds}
