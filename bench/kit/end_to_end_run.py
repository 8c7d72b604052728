"""Carries out the measurements of bench/end-to-end."""
import os
import shutil
import sys
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kit import end_to_end_plan as plan, workspace

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/bad_days"))
import client  # noqa: E402
from job import Job  # noqa: E402

CHUNK = 4 << 20
SET = "dump_0001"
LARGE_RANKS, FIELDS = 16, 7  # of the example simulation


def make_large(programs, gigabytes, work):
    """A set with large files, of the example simulation. None if none is wanted."""
    if gigabytes <= 0:
        return None
    cells = round((gigabytes * 1e9 / (8 * FIELDS)) ** (1 / 3) / 8) * 8
    return workspace.simulated(programs, work, "large", LARGE_RANKS, cells, 3, ("--stirred",))


def at_once(ranks, action):
    """action(rank) of all ranks at the same time: as in a job, they do not wait for each other. Returns the seconds."""
    with ThreadPoolExecutor(ranks) as pool:
        list(pool.map(lambda _: time.sleep(0), range(ranks)))  # the threads are there
        began = time.perf_counter()
        list(pool.map(action, range(ranks)))
        return time.perf_counter() - began


def write_durably(path, chunks):
    with open(path, "wb", buffering=0) as file:
        for chunk in chunks:
            view = memoryview(chunk)
            while view:
                view = view[file.write(view):]
        os.fsync(file.fileno())


def chunks_of(path):
    with open(path, "rb", buffering=0) as file:
        while chunk := file.read(CHUNK):
            yield chunk


def compressed(chunks):
    packer = zlib.compressobj(6)
    for chunk in chunks:
        yield packer.compress(chunk)
    yield packer.flush()


def decompressed(chunks):
    unpacker = zlib.decompressobj()
    for chunk in chunks:
        yield unpacker.decompress(chunk)
    yield unpacker.flush()


def sync_directory(path):
    number = os.open(path, os.O_RDONLY)
    os.fsync(number)
    os.close(number)


def drop_caches():
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as file:
        file.write("3")


class Runner:
    def __init__(self, programs, pfs, rate, log):
        self._forebay, self._pfs, self._rate, self._log = programs / "forebay", Path(pfs), rate, log
        self._library = client.Library(programs.parent / "lib" / "libforebay.so")
        self._pfs.mkdir(parents=True, exist_ok=True)

    def run(self, case, arm):
        store = self._pfs / f"bench-{os.getpid()}"
        try:
            times = self._through_job(case, arm, store) if arm.aggregates else self._by_each_rank(case, arm, store)
            stored = store / "sets" / SET if arm.aggregates else store
            self._log.add(plan.key_of(case, arm), raw=sum(path.stat().st_size for path in case.files),
                          stored=workspace.bytes_below(stored), files=len(workspace.files_below(stored)), rate=self._rate,
                          **times)
        finally:
            workspace.remove(store)

    def _by_each_rank(self, case, arm, store):
        pack, unpack = (compressed, decompressed) if arm.compresses else (iter, iter)
        store.mkdir()
        with workspace.work_directory() as stage:
            def write(rank):
                write_durably(store / f"rank{rank:05}", pack(chunks_of(case.files[rank])))

            def read(rank):
                with open(stage / f"rank{rank:05}", "wb", buffering=0) as file:
                    for chunk in unpack(chunks_of(store / f"rank{rank:05}")):
                        file.write(chunk)

            checkpoint = at_once(case.ranks, write)
            began = time.perf_counter()
            sync_directory(store)
            checkpoint += time.perf_counter() - began
            drop_caches()
            restart = at_once(case.ranks, read)
            for rank in range(case.ranks):
                check_same(case.files[rank], stage / f"rank{rank:05}")
        return {"checkpoint": checkpoint, "restart": restart}

    def _through_job(self, case, arm, store):
        words = ("--group-size", case.group_size, "--memory", "2G", "--set-timeout", 600, "--stall-timeout", 120, *arm.words)
        with Job(self._forebay, self._library, ranks=case.ranks, store=store, defaults=words) as job:
            job.start(aggregators=case.aggregators)
            job.write_set("dump_0000", 0, size=1000)  # the store is there, as in the midst of a run
            job.expect_durable("dump_0000", 60)
            for rank in range(case.ranks):
                one = job.rank(rank)
                one.begin(SET, 1)
                shutil.copyfile(case.files[rank], one.path(case.files[rank].name))
            began = time.perf_counter()
            for rank in range(case.ranks):
                job.rank(rank).complete()
            job.expect_durable(SET, 600)
            checkpoint = time.perf_counter() - began
            job.forget_ranks()
            for rank in range(case.ranks):
                job.rank(rank)
            drop_caches()
            began = time.perf_counter()
            job.restart(600)
            restart = time.perf_counter() - began
            for rank in range(case.ranks):
                check_same(case.files[rank], job.rank(rank).restart_path(case.files[rank].name))
            status = job.status()
        drained = next(one for one in status["past_sets"] if one["name"] == SET)
        return {"checkpoint": checkpoint, "restart": restart, "checkpoint_steps": drained["seconds_by_step"], "cpu": drained["cpu_seconds_by_stage"],
                "restart_steps": status["last_restart"]["seconds_by_step"], "totals": status["totals"]}


def check_same(before, after):
    said = workspace.difference(before, after, metadata=False)
    if said:
        raise SystemExit(said)
