#!/usr/bin/env python3
"""Faults of the store: it fails or hangs for the processes that faulty_store.c is preloaded into.

Usage: faults.py FOREBAY LIBFOREBAY SCENARIO|--list, with $FAULTY_STORE.
"""

import errno
import os
import subprocess
import time

import client
from job import STALL_TIMEOUT, wait_until
from runs import TINY, Runs
from scenarios import main, needs, scenario

EIO_TEXT = os.strerror(errno.EIO)
FAIL = f"fail {errno.EIO}"
SHORT = 8  # seconds: the set timeout where it is to pass


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
        assert code == client.SET_FAILED, client.NAMES[code]
        job.expect_log("dump_1", " failed: ", EIO_TEXT, str(job.store))
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
    wait_until("nothing is left of staged sets", lambda: not any((job.store / "staging").iterdir()))
    job.verify()


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


@scenario
def store_hangs_for_the_coordinator(new_job):
    """Another one takes its place, and what both of them have of a set is stored once."""
    with new_job() as job:
        faults = start(job)
        job.write_set("dump_0", 0)
        job.expect_durable("dump_0")
        job.prefixes[-1] = ()
        job.start_aggregator()  # whose store is well
        wait_until("two workers", lambda: (job.status() or {}).get("worker_count") == 2)
        faults.set("hang")
        job.write_set("dump_1", 1)
        job.expect_log("steps down", "the store has not answered for")
        job.expect_durable("dump_1")
        assert job.status()["totals"]["durable_count"] == 2, job.status()["totals"]
        faults.heal()
        time.sleep(1)  # for the one that hung to go on
        job.write_set("dump_2", 2)
        job.expect_durable("dump_2")
        assert job.stored_sets() == ["dump_0", "dump_1", "dump_2"], job.stored_sets()
        for name in job.stored_sets():
            job.check_restores(name)


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


def run_with_hung_store(job, below):
    """What the run says, whose store hangs there from its first durable set on."""
    runs, faults = Runs(job), Faults(job, below=below)
    run = runs.start("--drain-timeout", 2, "--pfs-limit", "80k", faults=faults)
    wait_until("a durable set", job.stored_sets)
    faults.set("hang")
    runs.wait_for_application()
    assert runs.finish(run, 40) == 1, run.text()
    job.check_nothing_is_lost(["dump_0", "dump_1", "dump_2"], TINY)
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
