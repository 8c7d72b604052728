#!/usr/bin/env python3
"""Deaths at every step: kill_at (tests/crash) kills a daemon at a chosen system call. And the death of `forebay run`.

Usage: deaths.py FOREBAY LIBFOREBAY SCENARIO|--list, with $KILL_AT.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import client
from job import wait_until
from runs import TINY, Runs
from scenarios import Skip, main, needs, scenario


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
        job.verify()


@scenario
def agent_killed_at_every_step(new_job):
    rename = ("--complete", "rename")
    with new_job(agent_words=rename, aggregator_words=("--agents", 1)) as job:
        job.prefixes[0] = killed_at(job, 0)
        job.start()
        for name in ("dump_0", "dump_1"):
            job.write_by_rename(name, TINY)
            wait_until(name, lambda: name in job.stored_sets())
        calls = calls_of(job, job.agents[0])
    with new_job(agent_words=rename, aggregator_words=("--agents", 1)) as job:
        job.start_aggregator()
        job.prefixes[0] = ()
        first = job.start_agent()  # the run begins: what comes from now on is its own
        wait_until("the agent has looked around", (job.stages[0] / ".forebay/found").exists)
        first.kill()
        names = []
        for call in spread(calls):
            job.prefixes[0] = killed_at(job, call)
            victim = job.start_agent(wait=False)
            end = time.monotonic() + 20
            while victim.alive():
                assert time.monotonic() < end, f"not killed at call {call}"
                if not names or (job.store / "sets" / names[-1]).exists():
                    names.append(f"dump_{len(names)}")
                    job.write_by_rename(names[-1], TINY)
                time.sleep(0.02)
            job.check_nothing_is_lost(names, TINY)
        job.prefixes[0] = ()
        job.start_agent()
        wait_until(f"{names[-1]} is durable", lambda: names[-1] in job.stored_sets())
        stored = job.stored_sets()
        assert sorted(stored) == sorted(names), (stored, names)
        for name in stored:
            job.check_restores(name, size=TINY)
        wait_until("one set is kept", lambda: sorted(path.name for path in job.stages[0].iterdir()) == [
            ".forebay", names[-1]])
        job.verify()


def restart_once(job, seconds=15):
    """Of an application that is new. What its ranks were told, or None if one could not be told."""
    job.forget_ranks()
    try:
        return job.restart(seconds)
    except client.CallFailed as failed:
        assert failed.code in (client.NO_AGENT, client.TIMEOUT, client.FAILED), failed
        return None


def end_traced(daemon):
    """Kills what runs under kill_at, which then ends; else it would end a moment after its tracer."""
    if daemon.alive():
        for child in Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
        wait_until(f"{daemon.name} ends", lambda: not daemon.alive())


@scenario
def agent_killed_at_every_step_of_a_restart(new_job):
    with new_job(aggregator_words=("--fabric", "stream")) as job:
        job.prefixes[0] = killed_at(job, 0)
        job.start()
        job.write_set("dump_1", 1, TINY)
        job.expect_durable("dump_1")
        job.check_restarted(restart_once(job), "dump_1", TINY)
        calls = calls_of(job, job.agents[0])
    with new_job(aggregator_words=("--fabric", "stream")).start() as job:
        job.write_set("dump_1", 1, TINY)
        job.expect_durable("dump_1")
        for call in spread(calls):
            job.agents[0].kill()
            shutil.rmtree(job.stages[0])
            job.stages[0].mkdir()
            job.prefixes[0] = killed_at(job, call)
            victim = job.start_agent(wait=False)
            wait_until("the agent listens, or is dead",
                       lambda: (job.stages[0] / ".forebay" / "agent.sock").exists() or not victim.alive())
            answers = restart_once(job, 1)
            if answers:
                job.check_restarted(answers, "dump_1", TINY)
            end_traced(victim)
            job.prefixes[0] = ()
            job.start_agent()
            again = wait_until("a restart", lambda: restart_once(job), 20)
            job.check_restarted(again, "dump_1", TINY)
        assert job.stored_sets() == ["dump_1"], job.stored_sets()


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
        job.write_by_rename("dump_1", TINY)
        job.agents[0].signal(signal.SIGCONT)
        wait_until("the set is durable", lambda: job.stored_sets() == ["dump_1"])
        job.check_restores("dump_1", size=TINY)
        job.write_by_rename("dump_2", TINY)
        wait_until("the next set is durable", lambda: "dump_2" in job.stored_sets())


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
        job.check_nothing_is_lost(["dump_0", "dump_1", "dump_2"], TINY)
        second = runs.start()
        runs.wait_for_application("dump_2")
        assert runs.finish(second, 20) == 0, second.text()
        assert sorted(job.stored_sets()) == ["dump_0", "dump_1", "dump_2"], job.stored_sets()
        for name in job.stored_sets():
            job.check_restores(name, size=TINY)


if __name__ == "__main__":
    main()
