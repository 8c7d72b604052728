#!/usr/bin/env python3
"""Bad days of a restart: sets are damaged, nodes cannot take what it brings, and parts of the job are killed in it.

Usage: restarts.py FOREBAY LIBFOREBAY SCENARIO|--list
"""

import shutil
import socket
import struct
import subprocess
import threading
import time

import client
from job import in_background, wait_until
from scenarios import main, mount_small, scenario


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


def frame_of_another_version(kind, body):
    return struct.pack("<IBB", len(body), 3, kind) + body


class AgentOfAnotherVersion:
    """Listens where a stage's agent does, and answers in version 3 of the protocol."""

    def __init__(self, stage):
        self._path = stage / ".forebay/agent.sock"
        self._path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self._path))
        self._socket.listen(16)
        self._socket.settimeout(0.1)
        self._over = threading.Event()
        self._thread = in_background(self._serve)

    def _serve(self):
        while not self._over.is_set():
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            with connection:
                connection.settimeout(5)
                connection.recv(4096)
                connection.sendall(frame_of_another_version(2, bytes(33)))

    def end(self):
        self._over.set()
        self._thread.join(20)
        self._socket.close()
        self._path.unlink()


def is_turned_away(path):
    """Whether a hello in version 3 ends the connection."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(str(path))
        connection.sendall(frame_of_another_version(1, bytes([1, 3]) + b"job" + bytes(32)))
        answer = b""
        while part := connection.recv(4096):
            answer += part
    return b"version 3" in answer and b"version 2" in answer


@scenario
def agent_of_another_version(new_job):
    """Programs of two releases meet: each is told so, at once, and nothing that is durable is lost."""
    with new_job(nodes=2).start() as job:
        job.write_set("dump_1", 1)
        job.expect_durable("dump_1")
        assert is_turned_away(job.stages[0] / ".forebay/agent.sock")
        job.expect_log("version 3 of Forebay's protocol", "one release")
        job.write_set("dump_2", 2)
        job.expect_durable("dump_2")
        job.agents[1].kill()
        job.forget_ranks()
        other = AgentOfAnotherVersion(job.stages[1])
        for rank in range(job.ranks // 2, job.ranks):
            begun = time.monotonic()
            try:
                job.rank(rank)
                raise AssertionError("the rank does not notice the other version")
            except client.CallFailed as failed:
                assert "speaks version 3 of Forebay's protocol, and this is version 2" in failed.message, failed.message
                assert "one release" in failed.message, failed.message
            assert time.monotonic() - begun < 10
        other.end()
        job.start_agent(1)
        wait_until("the agent is known", lambda: len((job.status() or {}).get("agents", [])) == 2)
        job.forget_ranks()
        job.check_restarted(job.restart(), "dump_2")


@scenario
def streams_of_one_aggregator(new_job):
    """A large set is cut for the streams of the only aggregator, which works at two containers at once; so does a restart."""
    size = 20_000_000
    words = ("--memory", "4G", "--streams", 2, "--pfs-limit", "40M", "--profile", "none")
    with new_job(defaults=words).start() as job:
        job.write_set("dump_1", 1, size=size)

        def tasks():
            return [task for worker in job.status()["workers"] for task in worker["tasks"]]

        wait_until("two containers are in flight", lambda: len(tasks()) == 2)
        assert {task["container_index"] for task in tasks()} <= {0, 1, 2, 3}
        job.expect_durable("dump_1")
        containers = sorted(path.name for path in (job.store / "sets/dump_1").glob("*.fbc"))
        assert containers == [f"{i:05}-of-00004.fbc" for i in range(4)], containers
        job.forget_ranks()
        job.check_restarted(job.restart(), "dump_1", size=size)


if __name__ == "__main__":
    main()
