"""A job whose nodes protect each other's checkpoints, for the tests: nodes can be lost with all that they have, and spares
take their place."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bad_days"))

import client  # noqa: E402
from job import Failure, Job, in_background, wait_until  # noqa: E402, F401

CACHED = client.CACHED
SIZE = 300_000  # bytes of a rank's file: two pieces, the second one short


class TierJob(Job):
    """`nodes` nodes and `spares` more, which have no agent until they take a lost node's place."""

    def __init__(self, forebay, library, scheme="xor", nodes=4, spares=2, ranks=8, aggregator_words=(), agent_words=(), **words):
        super().__init__(forebay, library, nodes=nodes + spares, ranks=ranks,
                         aggregator_words=("--redundancy", scheme, "--flush-every", 0, *aggregator_words),
                         agent_words=("--keep", 2, *agent_words), **words)
        self._in_use, self._spares, self._places = nodes, list(range(nodes, nodes + spares)), list(range(nodes))

    def node_of(self, rank):
        return self._places[rank * self._in_use // self.ranks]

    def words_of_agent(self, node):
        return ("--node", f"node{node}", "--failure-groups", f"node=node{node}")  # as if each had a machine of its own

    def start(self, aggregators=1):
        for _ in range(aggregators):
            self.start_aggregator()
        for node in range(self._in_use):
            self.start_agent(node)
        return self.wait_for_agents(self._in_use)

    def wait_for_agents(self, count):
        wait_until("all agents are known", lambda: len((self.status() or {}).get("agents", [])) == count)
        return self

    def write_cached(self, name, step, size=SIZE):
        """Writes the set, and waits until it is sealed in the caches."""
        self.write_set(name, step, size)
        self.expect_cached(name)

    def expect_cached(self, name, seconds=40):
        for rank in range(self.ranks):
            code = self.wait_for_set(name, seconds, rank)
            if code != CACHED:
                raise Failure(f"{name} is not cached for rank {rank} after {seconds} s: {code}")

    def lose(self, *nodes):
        """The nodes and all that they have are gone."""
        for node in nodes:
            self.agents[node].kill()
            self.agents[node] = None
            shutil.rmtree(self.stages[node])
        self.forget_ranks()  # an MPI application does not survive that

    def replace(self, *nodes):
        for node in nodes:
            spare = self._spares.pop(0)
            self._places[self._places.index(node)] = spare
            self.start_agent(spare)
        return self

    def place_in_order(self):
        """The application's ranks are placed on the nodes in the order of these, as Slurm does: survivors change places."""
        self._places.sort()
        return self

    def come_back(self, node):
        """The node again, empty."""
        wait_until("the node is missed", lambda: len(self.status()["agents"]) == self._in_use - 1)
        self.stages[node].mkdir()
        self.start_agent(node)
        self.wait_for_agents(self._in_use)

    def expect_restart(self, name, size=SIZE, seconds=60):
        self.check_restarted(self.restart(seconds), name, size)

    def expect_no_restart(self, seconds=60):
        answers = self.restart(seconds)
        if set(answers) != {None}:
            raise Failure(f"the ranks were told {answers}, and there is nothing to restart from")

    def end_with_settle(self):
        """The end of the job: the newest set is stored."""
        self.forget_ranks()
        said = subprocess.run([*self.prefixes[-1], self.forebay, "stop", "--drain", "--settle", "--rendezvous", self.rendezvous, "--timeout", "60"],
                              capture_output=True, text=True, timeout=90)
        return said


def pause(daemon):
    daemon.signal(signal.SIGSTOP)
