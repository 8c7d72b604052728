#!/usr/bin/env python3
"""Bad days of a running job: parts of it are killed or stopped, checkpoints change under its hands, strangers come.
Those of stores, restarts and networks are in files of their own.

In every case nothing hangs beyond the stated deadlines, a message says what happened, and what was reported durable
restores byte for byte.

Usage: bad_days.py FOREBAY LIBFOREBAY SCENARIO|--list
"""

import shutil
import signal
import subprocess
import time

import client
from job import LARGE, SET_TIMEOUT, SLOW, wait_until
from scenarios import main, scenario


@scenario
def undisturbed(new_job):
    with new_job(nodes=2).start(aggregators=2) as job:
        for step in range(3):
            job.write_set(f"dump_{step}", step)
            job.expect_durable(f"dump_{step}")
        for step in range(3):
            job.check_restores(f"dump_{step}")
        for name in job.stored_sets():
            assert name in ("dump_0", "dump_1", "dump_2"), name


@scenario
def agent_killed_in_a_drain(new_job):
    with new_job(nodes=2, aggregator_words=SLOW).start() as job:
        job.write_set("dump_1", 1, LARGE)
        job.wait_draining("dump_1")
        job.agents[1].kill()
        time.sleep(1)
        job.start_agent(1)
        job.expect_durable("dump_1", SET_TIMEOUT + 20)
        job.check_restores("dump_1", size=LARGE)


@scenario
def worker_killed_in_a_drain(new_job):
    with new_job(nodes=2, ranks=8, aggregator_words=SLOW).start(aggregators=2) as job:
        job.write_set("dump_1", 1, LARGE)
        job.wait_draining("dump_1")
        coordinator = job.coordinator()
        next(one for one in job.aggregators if one is not coordinator).kill()
        job.expect_durable("dump_1", SET_TIMEOUT + 20)
        job.check_restores("dump_1", size=LARGE)


@scenario
def coordinator_killed_in_a_drain(new_job):
    with new_job(nodes=2, ranks=8, aggregator_words=SLOW).start(aggregators=2) as job:
        job.write_set("dump_1", 1, LARGE)
        job.wait_draining("dump_1")
        job.coordinator().kill()
        job.expect_durable("dump_1", SET_TIMEOUT + 30)
        job.check_restores("dump_1", size=LARGE)


@scenario
def all_killed_in_a_drain(new_job):
    with new_job(aggregator_words=SLOW).start() as job:
        job.write_set("dump_1", 1, LARGE)
        job.wait_draining("dump_1")
        job.agents[0].kill()
        job.aggregators[0].kill()
        job.start_aggregator()
        job.start_agent()
        job.expect_durable("dump_1", SET_TIMEOUT + 20)
        job.check_restores("dump_1", size=LARGE)


@scenario
def application_killed_while_it_writes(new_job):
    with new_job().start() as job:
        job.write_set("dump_1", 1)
        job.expect_durable("dump_1")
        job.write_set("dump_2", 2, ranks=[0, 1, 2])
        one = job.rank(3)
        one.begin("dump_2", 2)
        one.path(job.file_name(3)).write_bytes(b"half of what it wan")
        job.forget_ranks()
        job.expect_log("dump_2", "not complete", "rank 3")
        assert job.stored_sets() == ["dump_1"], job.stored_sets()
        job.check_restarted(job.restart(), "dump_1")


@scenario
def worker_stopped_in_a_drain(new_job):
    with new_job(nodes=2, ranks=8, aggregator_words=SLOW).start(aggregators=2) as job:
        job.write_set("dump_1", 1, LARGE)
        job.wait_draining("dump_1")
        coordinator = job.coordinator()
        stopped = next(one for one in job.aggregators if one is not coordinator)
        stopped.signal(signal.SIGSTOP)
        job.expect_durable("dump_1", SET_TIMEOUT + 20)
        stopped.signal(signal.SIGCONT)
        job.check_restores("dump_1", size=LARGE)
        job.write_set("dump_2", 2)
        job.expect_durable("dump_2")
        job.check_restores("dump_2")


@scenario
def coordinator_stopped_in_a_drain(new_job):
    with new_job(nodes=2, ranks=8, aggregator_words=SLOW).start(aggregators=2) as job:
        job.write_set("dump_1", 1, LARGE)
        job.wait_draining("dump_1")
        stopped = job.coordinator()
        stopped.signal(signal.SIGSTOP)
        job.expect_durable("dump_1", SET_TIMEOUT + 30)
        stopped.signal(signal.SIGCONT)
        time.sleep(2)
        for name in job.stored_sets():  # the one that woke up may have stored it, too
            job.check_restores(name, "dump_1", LARGE)
        job.write_set("dump_2", 2)
        job.expect_durable("dump_2")
        job.check_restores("dump_2")


@scenario
def agent_stopped_in_a_drain(new_job):
    with new_job(nodes=2, aggregator_words=(*SLOW, "--fabric", "stream")).start() as job:
        job.write_set("dump_1", 1, LARGE)
        job.wait_draining("dump_1")
        job.agents[1].signal(signal.SIGSTOP)
        job.expect_log("agent", "lost")
        job.agents[1].signal(signal.SIGCONT)
        job.expect_durable("dump_1", SET_TIMEOUT + 20)
        job.check_restores("dump_1", size=LARGE)


@scenario
def no_aggregator_for_a_while(new_job):
    with new_job() as job:
        job.start_agent()
        job.write_set("dump_1", 1)
        assert job.wait_for_set("dump_1", 2) == client.TIMEOUT
        job.start_aggregator()
        job.expect_durable("dump_1")
        job.check_restores("dump_1")


@scenario
def checkpoint_overwritten_in_a_drain(new_job):
    with new_job(aggregator_words=SLOW).start() as job:
        job.write_set("dump_1", 1, LARGE)
        job.wait_draining("dump_1")
        job.staged("dump_1", 3).write_bytes(b"x" * LARGE)
        code = job.wait_for_set("dump_1", SET_TIMEOUT + 20)
        assert code == client.SET_FAILED, client.NAMES[code]
        job.expect_log(job.file_name(3), "changed")
        assert job.stored_sets() == []
        job.write_set("dump_2", 2)
        job.expect_durable("dump_2")
        job.check_restores("dump_2")


@scenario
def checkpoint_deleted_in_a_drain(new_job):
    with new_job(aggregator_words=SLOW).start() as job:
        job.write_set("dump_1", 1, LARGE)
        job.wait_draining("dump_1")
        shutil.rmtree(job.staged("dump_1", 0).parent)
        code = job.wait_for_set("dump_1", SET_TIMEOUT + 20)
        assert code == client.SET_FAILED, client.NAMES[code]
        assert job.stored_sets() == []
        job.write_set("dump_2", 2)
        job.expect_durable("dump_2")


@scenario
def names_come_back_as_they_were_given(new_job):
    with new_job().start() as job:
        for name in ("latest", "dump.tmp", "dump~", "x" * 129):
            try:
                job.rank(0).begin(name, 1)
                raise AssertionError(f"a set can be called {name}")
            except client.CallFailed as failed:
                assert failed.code == client.ARGUMENT, failed
        for step, name in enumerate(("x+2", "x", "x")):
            job.write_set(name, step, 20_000)
            job.expect_durable(name)
            job.forget_ranks()
            job.check_restarted(job.restart(), name, 20_000)
            job.forget_ranks()
        assert sorted(job.stored_sets()) == ["x", "x+2", "x+3"], job.stored_sets()


@scenario
def stopped_with_a_drain(new_job):
    with new_job(aggregator_words=SLOW).start() as job:
        job.write_set("dump_1", 1, LARGE)
        said = subprocess.run([job.forebay, "stop", "--drain", "--rendezvous", job.rendezvous], capture_output=True,
                              timeout=60)
        assert said.returncode == 0, said.stderr
        wait_until("the daemons end", lambda: not any(one.alive() for one in (*job.agents, *job.aggregators)))
        job.check_restores("dump_1", size=LARGE)


@scenario
def daemons_end_by_themselves_when_all_ranks_have_gone(new_job):
    """Not those of a node whose ranks have gone before the others: what they hold may be needed."""
    with new_job(nodes=2, aggregator_words=("--linger", 3), agent_words=("--linger", 3)).start() as job:
        job.write_set("dump_1", 1)
        job.expect_durable("dump_1")
        for rank in range(1, job.ranks):
            job.rank(rank).close()
        time.sleep(5)
        daemons = (*job.agents, *job.aggregators)
        assert all(one.alive() for one in daemons)
        job.forget_ranks()
        wait_until("the daemons end", lambda: not any(one.alive() for one in daemons), 20)
        assert [one.code() for one in daemons] == [0, 0, 0]


@scenario
def a_stranger_is_refused(new_job):
    with new_job().start() as job:
        other = job.directory / "other"
        other.mkdir(mode=0o700)
        for path in job.rendezvous.glob("coordinator.*"):
            shutil.copy(path, other / path.name)
        (other / "secret").write_text("0" * 63 + "1\n")
        (other / "secret").chmod(0o600)
        said = subprocess.run([job.forebay, "status", "--rendezvous", other], capture_output=True, timeout=30)
        assert said.returncode != 0
        job.expect_log("refused")
        job.write_set("dump_1", 1)
        job.expect_durable("dump_1")


if __name__ == "__main__":
    main()
