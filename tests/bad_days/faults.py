#!/usr/bin/env python3
"""Faults of the store, and deaths at every step. The store fails or hangs for the processes that faulty_store.c is
preloaded into; kill_at (tests/crash) kills one at a chosen system call.

Usage: faults.py FOREBAY LIBFOREBAY SCENARIO|--list, with $FAULTY_STORE and $KILL_AT.
"""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import client
from job import STALL_TIMEOUT, Daemon, Failure, wait_until
from scenarios import Skip, main, scenario

EIO_TEXT = os.strerror(errno.EIO)
FAIL = f"fail {errno.EIO}"
TINY = 20_000  # bytes of a rank's file
SHORT = 8  # seconds: the set timeout where it is to pass


def needs(variable):
    if not os.environ.get(variable):
        raise Skip(f"${variable} is not given")
    return os.environ[variable]


class Faults:
    """Switches the store of one aggregator's process, or of several."""

    def __init__(self, job, name="control", below=""):
        self._control = job.directory / name
        self.words = ("env", f"LD_PRELOAD={needs('FAULTY_STORE')}", f"FAULTY_CONTROL={self._control}",
                       f"FAULTY_DIRECTORY={job.store}{below}")

    def set(self, what):
        written = self._control.with_suffix(".new")
        written.write_text(what)
        written.rename(self._control)

    def heal(self):
        self.set("")

    def apply(self, job):
        """To the aggregators that are started from now on."""
        job.prefixes[-1] = self.words
        return self


def short(*words):
    """Of aggregators whose set timeout is to pass."""
    return (*words, "--set-timeout", SHORT)


def start(job, *, below="", aggregators=1):
    """All aggregators with one faulty store."""
    faults = Faults(job, below=below).apply(job)
    job.start(aggregators)
    return faults


@scenario
def store_fails_for_a_while(new_job):
    with new_job() as job:
        faults = start(job)
        job.write_set("dump_0", 0)
        job.expect_durable("dump_0")
        faults.set(FAIL)
        job.write_set("dump_1", 1)
        job.expect_log("dump_1", EIO_TEXT, str(job.store))
        assert job.wait_for_set("dump_1", 1) == client.TIMEOUT
        faults.heal()
        job.expect_durable("dump_1")
        for name in ("dump_0", "dump_1"):
            job.check_restores(name)


@scenario
def store_fails_in_the_middle_of_a_drain(new_job):
    with new_job(aggregator_words=("--pfs-limit", "2M")) as job:
        faults = start(job)
        job.write_set("dump_1", 1, 2_000_000)
        job.wait_draining("dump_1")
        for call in ("write", "fsync", "rename"):
            faults.set(f"{FAIL} {call}")
            time.sleep(1.5)
        faults.heal()
        job.expect_durable("dump_1")
        job.check_restores("dump_1", size=2_000_000)
        check_tidy(job)


@scenario
def store_fails_in_a_commit(new_job):
    """The set's directory can be renamed into place, but not synced there: nobody knows whether it would survive."""
    with new_job() as job:
        faults = start(job, below="/sets")
        for step, fault in enumerate((f"{FAIL} fsync", f"{FAIL}")):
            job.write_set(f"warm_{step}", 2 * step)
            job.expect_durable(f"warm_{step}")
            faults.set(fault)
            job.write_set(f"dump_{step}", 2 * step + 1)
            job.expect_log(f"dump_{step}", EIO_TEXT, str(job.store / "sets"))
            assert job.wait_for_set(f"dump_{step}", 2) == client.TIMEOUT
            faults.heal()
            job.expect_durable(f"dump_{step}")
            job.check_restores(f"dump_{step}")
        check_tidy(job)


@scenario
def store_fails_for_ever(new_job):
    with new_job(aggregator_words=short()) as job:
        faults = start(job)
        faults.set(FAIL)
        job.write_set("dump_1", 1)
        code = job.wait_for_set("dump_1", SHORT + 10)
        assert code == client.LOST, client.NAMES[code]
        job.expect_log("dump_1", "given up", EIO_TEXT, str(job.store))
        assert job.staged("dump_1", 0).exists()  # the source is the only copy
        faults.heal()
        job.write_set("dump_2", 2)
        job.expect_durable("dump_2")
        job.check_restores("dump_2")
        assert job.stored_sets() == ["dump_2"], job.stored_sets()
        assert job.staged("dump_1", 0).exists()


def check_tidy(job):
    """After all writers have ended and one has come again, nothing half is left in the store."""
    for daemon in job.aggregators:
        if daemon.alive():
            daemon.kill()
    job.prefixes[-1] = ()
    job.start_aggregator()
    job.write_set("last", 1_000_000)
    job.expect_durable("last")
    left = sorted(path.name for path in (job.store / "staging").iterdir())
    assert left == [], left
    verify(job)


def verify(job):
    said = subprocess.run([job.forebay, "verify", job.store], capture_output=True, text=True, timeout=60)
    if said.returncode != 0:
        raise Failure(f"the store is damaged: {said.stdout}{said.stderr}")


@scenario
def store_hangs_for_a_worker(new_job):
    with new_job(nodes=2, ranks=8, aggregator_words=("--pfs-limit", "2M")) as job:
        job.start()  # the first one coordinates
        faults = Faults(job).apply(job)
        job.start_aggregator()
        wait_until("two workers", lambda: (job.status() or {}).get("worker_count") == 2)
        faults.set("hang")
        job.write_set("dump_1", 1, 1_000_000)
        job.expect_log("makes no progress")
        job.expect_durable("dump_1")
        faults.heal()
        job.check_restores("dump_1", size=1_000_000)
        time.sleep(1)  # for the one that hung to go on
        job.write_set("dump_2", 2)
        job.expect_durable("dump_2")
        job.check_restores("dump_2")
        check_tidy(job)


def check_answers(job, name, step):
    """While the store hangs: neither the application nor who asks has to wait."""
    began = time.monotonic()
    assert job.status() is not None
    job.write_set(name, step)
    assert job.wait_for_set(name, 0.1) == client.TIMEOUT
    took = time.monotonic() - began
    assert took < 5, f"status and the next set took {took:.1f} s"


@scenario
def store_hangs_for_a_while(new_job):
    with new_job() as job:
        faults = start(job)
        job.write_set("dump_0", 0)
        job.expect_durable("dump_0")
        faults.set("hang")
        job.write_set("dump_1", 1)
        time.sleep(STALL_TIMEOUT + 3)
        check_answers(job, "dump_2", 2)
        faults.heal()
        job.expect_durable("dump_2")
        assert job.wait_for_set("dump_1") in (client.OK, client.SKIPPED)
        for name in job.stored_sets():
            job.check_restores(name)
        check_tidy(job)


@scenario
def store_hangs_in_a_drain_for_ever(new_job):
    with new_job(aggregator_words=("--pfs-limit", "2M")) as job:
        faults = start(job)
        job.write_set("dump_1", 1, 2_000_000)
        job.wait_draining("dump_1")
        faults.set("hang")
        check_answers(job, "dump_2", 2)
        began = time.monotonic()
        said = subprocess.run([job.forebay, "stop", "--drain", "--timeout", "3", "--rendezvous", job.rendezvous],
                              capture_output=True, text=True, timeout=30)
        assert said.returncode != 0 and "dump_1 (packing)" in said.stderr, said
        assert time.monotonic() - began < 10
        said = subprocess.run([job.forebay, "stop", "--rendezvous", job.rendezvous], capture_output=True, text=True,
                              timeout=30)
        assert said.returncode == 0, said.stderr
        wait_until("the daemons end", lambda: not any(one.alive() for one in (*job.agents, *job.aggregators)), 25)
        assert job.staged("dump_1", 0).exists() and job.staged("dump_2", 0).exists()


def killed_at(job, call, report=None):
    """What runs a command and kills it at the entry of its `call`-th system call that changes a file; 0: never."""
    words = ("--kill", call) if call else ()
    return tuple(map(str, (needs("KILL_AT"), *words, "--report", report or job.directory / "report", "--")))


def calls_of(job, daemon):
    """How many such calls the daemon made until the job's end."""
    subprocess.run([job.forebay, "stop", "--rendezvous", job.rendezvous], capture_output=True, timeout=30, check=True)
    wait_until(f"{daemon.name} ends", lambda: not daemon.alive())
    return json.loads((job.directory / "report").read_text())["calls"]


def spread(calls, most=12):
    """At most so many of the numbers 1..calls, with both ends, in an order that mixes early and late ones."""
    points = sorted({1 + round(i * (calls - 1) / (most - 1)) for i in range(most)})
    return points[::2] + points[1::2]


@scenario
def aggregator_killed_at_every_step(new_job):
    """Each aggregator takes over what its predecessor died over, and dies itself, a few calls later or earlier."""
    with new_job() as job:
        job.prefixes[-1] = killed_at(job, 0)
        job.start()
        job.write_set("dump_0", 0, TINY)
        job.expect_durable("dump_0")
        calls = calls_of(job, job.aggregators[0])
    with new_job() as job:
        job.start_agent()
        durable, step = [], 0
        job.write_set("dump_0", 0, TINY)
        for call in spread(calls):
            job.prefixes[-1] = killed_at(job, call)
            victim = job.start_aggregator()
            end = time.monotonic() + 20
            while victim.alive():
                assert time.monotonic() < end, f"neither durable nor killed at call {call}"
                if job.wait_for_set(f"dump_{step}", 0.2) == client.OK:
                    durable.append(f"dump_{step}")
                    step += 1
                    job.write_set(f"dump_{step}", step, TINY)
        job.prefixes[-1] = ()
        job.start_aggregator()
        job.expect_durable(f"dump_{step}")
        stored = job.stored_sets()
        assert sorted(stored) == sorted([*durable, f"dump_{step}"]), (stored, durable)
        for name in stored:
            job.check_restores(name, size=TINY)
        left = sorted(path.name for path in (job.store / "staging").iterdir())
        assert left == [], left
        verify(job)


def write_by_rename(job, name):
    """As an application that knows nothing of Forebay."""
    part = job.stages[0] / f".{name}.part"
    part.mkdir()
    for rank in range(job.ranks):
        (part / job.file_name(rank)).write_bytes(job.content(name, rank, TINY))
    part.rename(job.stages[0] / name)


def check_nothing_is_lost(job, names):
    """Each set is in the store or, whole, in the stage."""
    stored = set(job.stored_sets())
    for name in names:
        if name not in stored:
            job.check_files(job.stages[0] / name, name, TINY)


@scenario
def agent_killed_at_every_step(new_job):
    rename = ("--complete", "rename")
    with new_job(agent_words=rename, aggregator_words=("--agents", 1)) as job:
        job.prefixes[0] = killed_at(job, 0)
        job.start()
        for name in ("dump_0", "dump_1"):
            write_by_rename(job, name)
            wait_until(name, lambda: name in job.stored_sets())
        calls = calls_of(job, job.agents[0])
    with new_job(agent_words=rename, aggregator_words=("--agents", 1)) as job:
        job.start_aggregator()
        names = []
        for call in spread(calls):
            job.prefixes[0] = killed_at(job, call)
            victim = job.start_agent(wait=False)
            end = time.monotonic() + 20
            while victim.alive():
                assert time.monotonic() < end, f"not killed at call {call}"
                if not names or (job.store / "sets" / names[-1]).exists():
                    names.append(f"dump_{len(names)}")
                    write_by_rename(job, names[-1])
                time.sleep(0.02)
            check_nothing_is_lost(job, names)
        job.prefixes[0] = ()
        job.start_agent()
        wait_until(f"{names[-1]} is durable", lambda: names[-1] in job.stored_sets())
        stored = job.stored_sets()
        assert sorted(stored) == sorted(names), (stored, names)
        for name in stored:
            job.check_restores(name, size=TINY)
        wait_until("one set is kept", lambda: sorted(path.name for path in job.stages[0].iterdir()) == [
            ".forebay", names[-1]])
        verify(job)


@scenario
def more_events_than_the_kernel_keeps(new_job):
    """The agent sleeps, and the event that tells of the set is one of those that the kernel throws away."""
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if most > 100_000:
        raise Skip(f"the kernel keeps {most} events")
    with new_job(agent_words=("--complete", "rename"), aggregator_words=("--agents", 1)) as job:
        job.start()
        job.agents[0].signal(signal.SIGSTOP)
        for i in range(most):
            os.mkdir(job.stages[0] / f".{i}.part")
        write_by_rename(job, "dump_1")
        job.agents[0].signal(signal.SIGCONT)
        wait_until("the set is durable", lambda: job.stored_sets() == ["dump_1"])
        job.check_restores("dump_1", size=TINY)
        write_by_rename(job, "dump_2")
        wait_until("the next set is durable", lambda: "dump_2" in job.stored_sets())


# Starts where --restart says, or writes three sets; then waits to be told to end.
APPLICATION = """
import os, pathlib, random, sys, time
stage, go = pathlib.Path(os.environ["FOREBAY_STAGE"]), pathlib.Path(sys.argv[1])
restart = pathlib.Path(sys.argv[3]).name if "--restart" in sys.argv else None
for name in () if restart else ("dump_0", "dump_1", "dump_2"):
    part = stage / f".{name}.part"
    part.mkdir()
    for rank in range(4):
        (part / f"state.rank{rank:04}.bin").write_bytes(random.Random(f"{name} {rank}").randbytes(20_000))
    part.rename(stage / name)
    time.sleep(0.1)
(go / f"runs-from-{restart}").touch()
while not (go / "end").exists():
    time.sleep(0.05)
"""


class Runs:
    """`forebay run` around APPLICATION."""

    def __init__(self, job):
        self.job, self.go = job, job.directory / "go"
        self.go.mkdir()
        (self.go / "application.py").write_text(APPLICATION)

    def start(self, *options, faults=None):
        return Daemon("run", [
            *(faults.words if faults else ()), self.job.forebay, "run", "--store", self.job.store, "--stage",
            self.job.stages[0], "--complete", "rename", "--backlog", "block", "--restart-args", "--restart {}",
            *options, "--", sys.executable, self.go / "application.py", self.go], self.go / f"{time.monotonic_ns()}.log")

    def wait_for_application(self, starting_from=None):
        wait_until(f"the application runs from {starting_from}", (self.go / f"runs-from-{starting_from}").exists)

    def finish(self, run, seconds):
        """Ends the application. The exit code of the run, after which nobody is left."""
        (self.go / "end").touch()
        wait_until("the run ends", lambda: not run.alive(), seconds)
        assert not self.processes(), self.processes()
        return run.code()

    def processes(self):
        """All whose command lines name something of this test."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes()
            except OSError:
                continue
            if str(self.job.directory).encode() in words:
                found.append(words)
        return found


@scenario
def run_killed(new_job):
    with new_job() as job:
        runs = Runs(job)
        first = runs.start("--pfs-limit", "80k")  # a set a second
        runs.wait_for_application()
        wait_until("a durable set", job.stored_sets)
        first.kill()
        wait_until("all processes end", lambda: not runs.processes(), 15)
        durable = job.stored_sets()
        assert "dump_2" not in durable, durable
        check_nothing_is_lost(job, ["dump_0", "dump_1", "dump_2"])
        second = runs.start()
        runs.wait_for_application("dump_2")
        assert runs.finish(second, 20) == 0, second.text()
        assert sorted(job.stored_sets()) == ["dump_0", "dump_1", "dump_2"], job.stored_sets()
        for name in job.stored_sets():
            job.check_restores(name, size=TINY)


def run_with_hung_store(job, below):
    """What the run says, whose store hangs there from its first durable set on."""
    runs, faults = Runs(job), Faults(job, below=below)
    run = runs.start("--drain-timeout", 2, "--pfs-limit", "80k", faults=faults)
    wait_until("a durable set", job.stored_sets)
    faults.set("hang")
    runs.wait_for_application()
    assert runs.finish(run, 40) == 1, run.text()
    check_nothing_is_lost(job, ["dump_0", "dump_1", "dump_2"])
    return run.text()


@scenario
def run_whose_drain_hangs(new_job):
    with new_job() as job:
        said = run_with_hung_store(job, "/staging")
        assert "not everything is drained: " in said and "the time for the drain is over" in said, said
        assert "dump_2" in said, said


@scenario
def run_whose_store_hangs(new_job):
    """With the rendezvous directory, which is in the store, and the logs."""
    with new_job() as job:
        said = run_with_hung_store(job, "")
        assert "not everything is drained: the drain took more than" in said and "does not answer" in said, said


if __name__ == "__main__":
    main()
