#!/usr/bin/env python3
"""Bad days of a running job: parts of it are killed, stopped or cut off, disks fill up, checkpoints change under its hands.

In every case nothing hangs beyond the stated deadlines, a message says what happened, and what was reported durable
restores byte for byte. Usage: bad_days.py FOREBAY LIBFOREBAY SCENARIO|--list
"""

import os
import shutil
import signal
import subprocess
import time

import client
import nodes
from job import SET_TIMEOUT, in_background, wait_until
from scenarios import Skip, main, scenario

LARGE = 2_000_000  # bytes of a rank's file: random ones, so that four ranks' take four seconds at SLOW
SLOW = ("--pfs-limit", "2M")


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
        assert code == client.LOST, client.NAMES[code]
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
        assert code == client.LOST, client.NAMES[code]
        assert job.stored_sets() == []
        job.write_set("dump_2", 2)
        job.expect_durable("dump_2")


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


def mount_small(directory, size):
    if os.geteuid() != 0:
        raise Skip("only root can mount a small file system")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", directory]).returncode != 0:
        raise Skip("no file system can be mounted here")


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
            assert code == client.LOST, client.NAMES[code]
            assert job.staged("dump_1", 0).exists()  # the source is the only copy
            job.write_set("dump_2", 2, 10_000)
            job.expect_durable("dump_2")
            job.check_restores("dump_2", size=10_000)
        finally:
            for daemon in job.aggregators:
                daemon.kill()
            subprocess.run(["umount", "-l", job.store], check=True)


@scenario
def restart_when_there_is_nothing(new_job):
    with new_job(nodes=2).start() as job:
        assert job.restart() == [None] * job.ranks


@scenario
def restart_of_the_newest(new_job):
    with new_job(nodes=2, aggregator_words=("--fabric", "stream")).start(aggregators=2) as job:
        for step in (1, 2):
            job.write_set(f"dump_{step}", step)
            job.expect_durable(f"dump_{step}")
        job.forget_ranks()
        shutil.rmtree(job.stages[0] / "dump_2", ignore_errors=True)
        job.check_restarted(job.restart(), "dump_2")


def damage(store, name):
    """Flips a bit in the middle of the largest file of a set."""
    victim = max((store / "sets" / name).iterdir(), key=lambda path: path.stat().st_size)
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 16
    victim.write_bytes(content)


@scenario
def restart_passes_over_a_damaged_set(new_job):
    with new_job(nodes=2).start() as job:
        for step in (1, 2):
            job.write_set(f"dump_{step}", step)
            job.expect_durable(f"dump_{step}")
        job.forget_ranks()
        damage(job.store, "dump_2")
        job.check_restarted(job.restart(), "dump_1")
        job.expect_log("dump_2", "passed over")


@scenario
def one_node_cannot_take_what_a_restart_brings(new_job):
    """Then no rank begins, neither from the set nor from scratch, on any node."""
    with new_job(nodes=2).start() as job:
        job.write_set("dump_1", 1)
        job.expect_durable("dump_1")
        job.forget_ranks()
        occupied = job.stages[1] / "dump_1"
        shutil.rmtree(occupied)
        occupied.mkdir()
        mount_small(occupied, 1_000_000)  # what is a file system of its own cannot be replaced
        try:
            told = job.each_rank(restart_failure)
            assert len(set(told)) == 1 and told[0][0] == client.FAILED and str(occupied) in told[0][1], told
        finally:
            subprocess.run(["umount", "-l", occupied], check=True)
        job.check_restarted(job.restart(), "dump_1")


def restart_failure(rank):
    """(code, message) of a restart that must fail."""
    try:
        answer = rank.restart()
    except client.CallFailed as failed:
        return failed.code, failed.message
    raise AssertionError(f"rank {rank.rank} begins, and was told {answer}")


@scenario
def aggregator_killed_in_a_restart(new_job):
    with new_job(nodes=2, ranks=8, aggregator_words=("--fabric", "stream")).start(aggregators=2) as job:
        job.write_set("dump_1", 1, 8_000_000)
        job.expect_durable("dump_1", 60)
        job.forget_ranks()
        victim = job.coordinator()
        killer = in_background(lambda: (time.sleep(0.05), victim.kill()))
        answers = job.restart(60)
        killer.join()
        job.check_restarted(answers, "dump_1", 8_000_000)


@scenario
def agent_killed_in_a_restart(new_job):
    with new_job(nodes=2, ranks=8, aggregator_words=("--fabric", "stream")).start() as job:
        job.write_set("dump_1", 1, 8_000_000)
        job.expect_durable("dump_1", 60)
        job.forget_ranks()

        def kill_and_start():
            time.sleep(0.05)
            job.agents[1].kill()
            job.start_agent(1)

        killer = in_background(kill_and_start)
        try:
            job.restart(15)
        except client.CallFailed as failed:
            assert failed.code in (client.NO_AGENT, client.TIMEOUT), failed
        killer.join()
        job.forget_ranks()
        job.check_restarted(job.restart(60), "dump_1", 8_000_000)


def on_nodes(count):
    try:
        return nodes.Nodes(count)
    except nodes.Unavailable as reason:
        raise Skip(reason) from None


@scenario
def nodes_of_their_own(new_job):
    with on_nodes(3) as net, new_job(nodes=2, prefixes=[net.prefix(i) for i in range(3)]).start(aggregators=2) as job:
        for step in (1, 2):
            job.write_set(f"dump_{step}", step, LARGE)
            job.expect_durable(f"dump_{step}")
        job.check_restores("dump_2", size=LARGE)
        job.forget_ranks()
        job.check_restarted(job.restart(), "dump_2", LARGE)


def write_marked(job, name, marks):
    """As an application that knows nothing of Forebay: two ranks' files on each node, and then the node's marker."""
    for node, mark in enumerate(marks):
        directory = job.stages[node] / name
        directory.mkdir()
        for rank in range(job.ranks):
            if job.node_of(rank) == node:
                (directory / job.file_name(rank)).write_bytes(job.content(name, rank, 20_000))
        (directory / "DONE").write_text(mark)


@scenario
def marker_on_each_of_two_nodes(new_job):
    with on_nodes(3) as net, new_job(nodes=2, prefixes=[net.prefix(i) for i in range(3)],
                                     agent_words=("--complete", "marker:{set}/DONE"),
                                     aggregator_words=("--agents", 2)).start() as job:
        write_marked(job, "dump_1", ["done\n", "done\n"])
        wait_until("the set is durable", lambda: job.stored_sets() == ["dump_1"])
        target = job.directory / "back"
        subprocess.run([job.forebay, "restore", "dump_1", "--store", job.store, "--to", target], check=True,
                       capture_output=True)
        assert (target / "DONE").read_text() == "done\n"
        (target / "DONE").unlink()
        job.check_files(target, "dump_1", 20_000)
        write_marked(job, "dump_2", ["of node 0", "of node 1"])
        job.expect_log("dump_2", "DONE", "the same bytes")


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
def node_cut_off_in_a_drain(new_job):
    with on_nodes(3) as net, new_job(nodes=2, prefixes=[net.prefix(i) for i in range(3)],
                                     aggregator_words=SLOW).start() as job:
        job.write_set("dump_1", 1, LARGE)
        job.wait_draining("dump_1")
        net.cut(1)
        job.expect_log("agent", "lost")
        net.heal(1)
        job.expect_durable("dump_1", SET_TIMEOUT + 20)
        job.check_restores("dump_1", size=LARGE)


@scenario
def node_cut_off_for_ever(new_job):
    with on_nodes(3) as net, new_job(nodes=2, prefixes=[net.prefix(i) for i in range(3)],
                                     aggregator_words=SLOW).start() as job:
        job.write_set("dump_1", 1)
        job.expect_durable("dump_1")
        job.write_set("dump_2", 2, LARGE)
        job.wait_draining("dump_2")
        net.cut(1)
        code = job.wait_for_set("dump_2", SET_TIMEOUT + 30)
        assert code == client.LOST, client.NAMES[code]
        job.check_restores("dump_1")
        assert job.stored_sets() == ["dump_1"], job.stored_sets()


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
