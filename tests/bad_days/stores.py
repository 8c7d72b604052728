#!/usr/bin/env python3
"""Bad days of a store: it is slower than the application, it is full, or two jobs have it.

Usage: stores.py FOREBAY LIBFOREBAY SCENARIO|--list
"""

import os
import subprocess
import time

import client
from job import LARGE, SET_TIMEOUT, SLOW
from scenarios import main, mount_small, scenario


def write_faster_than_the_drain(job, sets=5):
    for step in range(sets):
        job.write_set(f"dump_{step}", step, LARGE)
    return [job.wait_for_set(f"dump_{step}", 60) for step in range(sets)]


@scenario
def slow_drain_keeps_the_newest(new_job):
    with new_job(aggregator_words=(*SLOW, "--backlog", "newest")).start() as job:
        codes = write_faster_than_the_drain(job)
        assert codes[-1] == client.OK, codes
        assert client.SKIPPED in codes[1:-1] and set(codes) <= {client.OK, client.SKIPPED}, codes
        job.check_restores("dump_4", size=LARGE)
        assert len(job.stored_sets()) == codes.count(client.OK)


@scenario
def slow_drain_skips(new_job):
    with new_job(aggregator_words=(*SLOW, "--backlog", "skip")).start() as job:
        codes = write_faster_than_the_drain(job)
        assert codes[0] == client.OK and client.SKIPPED in codes[1:], codes
        job.check_restores("dump_0", size=LARGE)
        job.write_set("dump_9", 9)
        job.expect_durable("dump_9")


@scenario
def slow_drain_blocks(new_job):
    with new_job(aggregator_words=(*SLOW, "--backlog", "block")).start() as job:
        began = time.monotonic()
        codes = write_faster_than_the_drain(job)
        assert codes == [client.OK] * 5, codes
        assert time.monotonic() - began > 10  # five times four seconds, less what was under way at once
        for step in range(5):
            job.check_restores(f"dump_{step}", size=LARGE)


def small_file_system(job, size):
    """A file system of its own for the store."""
    job.store.mkdir()
    mount_small(job.store, size)


@scenario
def store_full_for_a_while(new_job):
    with new_job() as job:
        small_file_system(job, 6_000_000)
        try:
            ballast = job.store.parent / "store" / "ballast"
            job.start()
            job.write_set("dump_0", 0)
            job.expect_durable("dump_0")
            free = os.statvfs(job.store)
            ballast.write_bytes(b"b" * (free.f_bavail * free.f_bsize - 500_000))
            job.write_set("dump_1", 1)
            job.expect_log("dump_1", "space")
            assert job.wait_for_set("dump_1", 1) == client.TIMEOUT
            ballast.unlink()
            job.expect_durable("dump_1", SET_TIMEOUT + 20)
            job.check_restores("dump_0")
            job.check_restores("dump_1")
        finally:
            for daemon in job.aggregators:
                daemon.kill()
            subprocess.run(["umount", "-l", job.store], check=True)


@scenario
def store_full_for_ever(new_job):
    with new_job() as job:
        small_file_system(job, 2_000_000)
        try:
            job.start()
            job.write_set("dump_1", 1, LARGE)
            code = job.wait_for_set("dump_1", SET_TIMEOUT + 40)
            assert code == client.SET_FAILED, client.NAMES[code]
            assert job.staged("dump_1", 0).exists()  # the source is the only copy
            job.write_set("dump_2", 2, 10_000)
            job.expect_durable("dump_2")
            job.check_restores("dump_2", size=10_000)
        finally:
            for daemon in job.aggregators:
                daemon.kill()
            subprocess.run(["umount", "-l", job.store], check=True)


@scenario
def two_jobs_on_one_store(new_job):
    with new_job(job=1, aggregator_words=SLOW).start() as first:
        with new_job(job=2, store=first.store, aggregator_words=SLOW).start() as second:
            first.write_set("dump_1", 1, LARGE)
            second.write_set("dump_1", 1, LARGE)
            first.expect_durable("dump_1", SET_TIMEOUT + 20)
            second.expect_durable("dump_1", SET_TIMEOUT + 20)
            assert sorted(first.stored_sets()) == ["dump_1", "dump_1+2"], first.stored_sets()
            for name in first.stored_sets():
                first.check_restores(name, "dump_1", LARGE)


if __name__ == "__main__":
    main()
