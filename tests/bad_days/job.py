"""A job on this machine for the tests: agents, aggregators and ranks, each of which can be killed, stopped or cut off."""

import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import client

# Deadlines of the job, in seconds: short ones, so that the tests are.
PEER_TIMEOUT, STALL_TIMEOUT, SET_TIMEOUT = 2, 5, 25
SMALL = ("--memory", "512M", "--threads", 1, "--stall-timeout", STALL_TIMEOUT, "--set-timeout", SET_TIMEOUT,
         "--group-size", 2, "--profile", "fast")

LARGE = 2_000_000  # bytes of a rank's file: random ones, so that four ranks' take four seconds at SLOW
SLOW = ("--pfs-limit", "2M")


class Failure(Exception):
    pass


def wait_until(what, condition, seconds=30.0):
    """Returns the first true value of condition(). Failure, naming `what`, if there is none in time."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure(f"{what}: not after {seconds:g} s")
        time.sleep(0.05)


class Daemon:
    """A process of the job, with its log."""

    def __init__(self, name, command, log, prefix=()):
        self.name, self.log = name, log
        with open(log, "ab") as output:
            self._process = subprocess.Popen([*prefix, *map(str, command)], stdin=subprocess.DEVNULL, stdout=output,
                                             stderr=subprocess.STDOUT)

    @property
    def pid(self):
        return self._process.pid

    def alive(self):
        return self._process.poll() is None

    def code(self):
        """The exit code, or None."""
        return self._process.poll()

    def signal(self, number):
        if self.alive():
            self._process.send_signal(number)

    def kill(self):
        """kill -9, also of a stopped one."""
        self.signal(signal.SIGKILL)
        self._process.wait(20)

    def end(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            return self._process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure(f"{self.name} does not end on SIGTERM") from None

    def text(self):
        return self.log.read_text(errors="replace")


class Job:
    """`nodes` agents with a stage each, and aggregators. Everything is below one temporary directory."""

    def __init__(self, forebay, library, nodes=1, ranks=4, aggregator_words=(), agent_words=(), store=None, job=None,
                 prefixes=None, defaults=SMALL):
        self.forebay, self.library, self.ranks = forebay, library, ranks
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.directory = Path(tempfile.mkdtemp(prefix="forebay-bad-", dir=memory))
        self.store = Path(store) if store else self.directory / "store"
        self.rendezvous = self.directory / f"rendezvous{job or ''}"
        self.stages = [self.directory / f"node{i}" for i in range(nodes)]
        self.prefixes = prefixes or [()] * (nodes + 1)  # of the nodes' commands; the last one of the aggregators'
        self._aggregator_words, self._agent_words = [*defaults, *aggregator_words], list(agent_words)
        self.agents, self.aggregators, self._ranks, self._started = [None] * nodes, [], {}, 0
        for stage in self.stages:
            stage.mkdir()

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        for rank in self._ranks.values():
            rank.close()
        daemons = [daemon for daemon in (*self.agents, *self.aggregators) if daemon]
        for daemon in daemons:
            if daemon.alive():
                daemon.kill()
        if failed:
            for daemon in daemons:
                print(f"---- {daemon.name}\n{daemon.text()[-6000:]}", flush=True)
        shutil.rmtree(self.directory, ignore_errors=True)

    def _daemon(self, name, words, prefix):
        self._started += 1
        return Daemon(name, [self.forebay, *words], self.directory / f"{name}-{self._started}.log", prefix)

    def words_of_agent(self, node):
        return ()

    def start_agent(self, node=0, wait=True):
        self.agents[node] = self._daemon(
            f"agent{node}", ["agent", "--stage", self.stages[node], "--rendezvous", self.rendezvous,
                             *self._agent_words, *self.words_of_agent(node)], self.prefixes[node])
        if wait:
            wait_until(f"agent {node} listens", lambda: (self.stages[node] / ".forebay" / "agent.sock").exists())
        return self.agents[node]

    def start_aggregator(self, *words):
        daemon = self._daemon(
            f"aggregator{len(self.aggregators)}",
            ["aggregator", "--store", self.store, "--rendezvous", self.rendezvous, "--peer-timeout", PEER_TIMEOUT,
             *self._aggregator_words, *words], self.prefixes[-1])
        self.aggregators.append(daemon)
        return daemon

    def start(self, aggregators=1):
        for _ in range(aggregators):
            self.start_aggregator()
        for node in range(len(self.stages)):
            self.start_agent(node)
        wait_until("all agents are known", lambda: len((self.status() or {}).get("agents", [])) == len(self.stages))
        return self

    def status(self):
        """What the coordinator tells, or None if there is none."""
        said = subprocess.run([*self.prefixes[-1], self.forebay, "status", "--rendezvous", self.rendezvous, "--json"],
                              capture_output=True, timeout=30)
        return json.loads(said.stdout) if said.returncode == 0 else None

    def coordinator(self):
        """The aggregator whose process the newest generation names."""
        newest = max(self.rendezvous.glob("coordinator.*"), key=lambda path: int(path.suffix[1:]))
        text = newest.read_text()
        return next(daemon for daemon in self.aggregators if daemon.alive() and str(daemon.pid) in text)

    def node_of(self, rank):
        return rank * len(self.stages) // self.ranks

    def rank(self, rank):
        if rank not in self._ranks:
            self._ranks[rank] = client.Rank(self.library, self.stages[self.node_of(rank)], rank, self.ranks)
        return self._ranks[rank]

    def forget_ranks(self):
        """As if the application had ended."""
        for rank in self._ranks.values():
            rank.close()
        self._ranks.clear()

    @staticmethod
    def content(name, rank, size):
        return random.Random(f"{name} {rank}").randbytes(size)

    @staticmethod
    def file_name(rank):
        return f"state.rank{rank:04}.bin"

    def staged(self, name, rank):
        return self.stages[self.node_of(rank)] / name / self.file_name(rank)

    def write_set(self, name, step, size=200_000, ranks=None):
        """All ranks write their files of a set and say that they are complete."""
        for rank in range(self.ranks):
            self.rank(rank)
        for rank in ranks if ranks is not None else range(self.ranks):
            one = self.rank(rank)
            one.begin(name, step)
            one.path(self.file_name(rank)).write_bytes(self.content(name, rank, size))
            one.complete()

    def write_by_rename(self, name, size):
        """As an application that knows nothing of Forebay, on one node."""
        part = self.stages[0] / f".{name}.part"
        part.mkdir()
        for rank in range(self.ranks):
            (part / self.file_name(rank)).write_bytes(self.content(name, rank, size))
        part.rename(self.stages[0] / name)

    def wait_for_set(self, name, seconds=40, rank=0):
        """The code of forebay_wait(): OK, SKIPPED, SET_FAILED, or TIMEOUT when the time is over. While there is no agent it
        asks again."""
        end = time.monotonic() + seconds
        while True:
            left = max(0, int((end - time.monotonic()) * 1000))
            code = self.rank(rank).wait(name, left)
            if code != client.NO_AGENT or left == 0:
                return code
            time.sleep(0.1)

    def expect_durable(self, name, seconds=40):
        code = self.wait_for_set(name, seconds)
        if code != client.OK:
            raise Failure(f"{name} is not durable after {seconds} s: {client.NAMES[code]}")

    def stored_sets(self):
        said = subprocess.run([self.forebay, "ls", "--store", self.store, "--json"], capture_output=True, timeout=60)
        if said.returncode != 0:
            return []
        return [one["name"] for one in json.loads(said.stdout)["sets"]]

    def check_restores(self, stored, name=None, size=200_000):
        """The stored set has exactly the bytes that the ranks wrote."""
        target = self.directory / f"restored-{stored}-{time.monotonic_ns()}"
        said = subprocess.run([self.forebay, "restore", stored, "--store", self.store, "--to", target],
                              capture_output=True, timeout=120)
        if said.returncode != 0:
            raise Failure(f"{stored} cannot be restored: {said.stderr.decode(errors='replace')}")
        self.check_files(target, name or stored, size)
        shutil.rmtree(target)

    def verify(self):
        """All of the store can be read."""
        said = subprocess.run([self.forebay, "verify", self.store], capture_output=True, text=True, timeout=60)
        if said.returncode != 0:
            raise Failure(f"the store is damaged: {said.stdout}{said.stderr}")

    def check_nothing_is_lost(self, names, size):
        """Each set is in the store or, whole, in the stage."""
        stored = set(self.stored_sets())
        for name in names:
            if name not in stored:
                self.check_files(self.stages[0] / name, name, size)

    def check_files(self, directory, name, size):
        found = sorted(path.name for path in directory.iterdir())
        if found != [self.file_name(rank) for rank in range(self.ranks)]:
            raise Failure(f"{directory} has other files than were written: {found}")
        for rank in range(self.ranks):
            if (directory / self.file_name(rank)).read_bytes() != self.content(name, rank, size):
                raise Failure(f"the file of rank {rank} of {name} has other bytes than were written")

    def each_rank(self, action):
        """What action(rank) returns, which all ranks do at once. Of several that fail the first one's error is raised, with notes of
        the others'."""
        with ThreadPoolExecutor(self.ranks) as pool:
            futures = [pool.submit(lambda rank=rank: action(self.rank(rank))) for rank in range(self.ranks)]
        failed = [(rank, future.exception()) for rank, future in enumerate(futures) if future.exception()]
        if failed:
            for rank, error in failed[1:]:
                failed[0][1].add_note(f"rank {rank}: {error}")
            raise failed[0][1]
        return [future.result() for future in futures]

    def restart(self, seconds=40):
        """All ranks restart. Returns what each was told."""
        return self.each_rank(lambda rank: rank.restart(int(seconds * 1000)))

    def check_restarted(self, answers, name, size=200_000):
        if {answer and answer[0] for answer in answers} != {name}:
            raise Failure(f"the ranks were told {answers}, not {name}")
        for rank in range(self.ranks):
            if self.rank(rank).restart_path(self.file_name(rank)).read_bytes() != self.content(name, rank, size):
                raise Failure(f"rank {rank} restarts from other bytes than it wrote")

    def logs(self):
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.directory.glob("*.log")))

    def expect_log(self, *texts, seconds=20):
        """One line of the logs has all of `texts`."""
        wait_until(f"a log line with {texts}",
                   lambda: any(all(text in line for text in texts) for line in self.logs().splitlines()), seconds)

    def wait_draining(self, name, seconds=20):
        """Until the set's bytes are on their way."""
        def busy():
            status = self.status()
            return status and any(one["name"] == name and one["state"] == "packing" for one in status["sets"])
        wait_until(f"{name} is draining", busy, seconds)


def in_background(action):
    thread = threading.Thread(target=action)
    thread.start()
    return thread
