#!/usr/bin/env python3
"""Random bad days of jobs whose nodes protect each other's checkpoint sets: nodes, agents and the coordinator are lost, alone
and at once, at rest, while a set is encoded and while one is rebuilt, and ranks change places. Each run is drawn from its seed.
What must hold, whatever happens:
  - all ranks restart from one set, from the bytes that they wrote, and within a time;
  - it is the newest that was promised, or a newer one, as long as no more nodes are lost at once than the scheme survives;
  - afterwards sets are protected as before, and the end stores the newest one and says so by its exit code.

Usage: chaos.py FOREBAY LIBFOREBAY [--runs N] [--first SEED] [--seconds S] [--keep DIRECTORY]
"""

import argparse
import random
import shutil
import sys
import threading
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tiers"))

from tier_job import CACHED, Failure, TierJob, client, wait_until  # noqa: E402

LOSSES = {"partner": 1, "xor": 1, "rs:2": 2}
SIZES = (40_000, 300_000, 3_000_000)
RESTART, PROTECT = 60, 40  # seconds


class Run:
    """One job, with what it was promised."""

    def __init__(self, job, rng, scheme):
        self.job, self.rng, self.losses = job, rng, LOSSES[scheme]
        self.sizes, self.promised, self.step, self.said = {}, None, 0, []

    def say(self, text):
        self.said.append(text)

    def write(self, wait=True):
        self.step += 1
        name = f"dump_{self.step:03}"
        self.sizes[name] = self.rng.choice(SIZES)
        self.say(f"write {name} of {self.sizes[name]}")
        self.job.write_set(name, self.step, self.sizes[name])
        if wait:
            for rank in range(self.job.ranks):
                code = self.job.wait_for_set(name, PROTECT, rank)
                if code not in (client.OK, CACHED):
                    raise Failure(f"{name} is not protected for rank {rank}: {client.NAMES[code]}")
            self.promised = name

    def lose(self, fault):
        """Does it. How many nodes are gone."""
        self.say(fault)
        used = sorted(self.job.places())
        lost = 0
        for part in fault.split("+"):
            if part == "node":
                node = self.rng.choice(used)
                used.remove(node)
                self.say(f"  node {node}")
                self.job.lose(node)
                self.job.gone.append(node)
                lost += 1
            elif part == "agent":
                node = self.rng.choice(used)
                self.say(f"  agent {node}")
                self.job.agents[node].kill()
                self.job.start_agent(node)
            elif part == "coordinator":
                wait_until("somebody leads", self.job.status)
                self.job.coordinator().kill()
                self.job.start_aggregator()
            elif part == "later":
                time.sleep(self.rng.uniform(0, 0.5))
        return lost

    def replace(self):
        for node in self.job.gone:
            self.job.replace(node)
        self.job.gone.clear()
        if self.rng.random() < 0.4:
            self.say("ranks in the order of the nodes")
            self.job.place_in_order()

    def restart(self):
        """What all ranks are told: one answer."""
        self.say("restart")
        answers = self.job.restart(RESTART)
        if len(set(answers)) != 1:
            raise Failure(f"ranks were told {answers}")
        return answers[0] and answers[0][0]

    def restart_while(self, fault):
        """How many nodes are lost on the way. What the ranks are told does not count: they are lost, too."""
        caught = []

        def one():
            try:
                self.restart()
            except (client.CallFailed, Failure) as error:
                caught.append(error)

        for rank in range(self.job.ranks):
            self.job.rank(rank)
        thread = threading.Thread(target=one)
        thread.start()
        time.sleep(self.rng.uniform(0.02, 1.0))
        used = self.job.forget_ranks  # the ranks are in the middle of it: their node is not taken from under them
        self.job.forget_ranks = lambda: None
        try:
            lost = self.lose(fault)
        finally:
            self.job.forget_ranks = used
        thread.join(RESTART + 20)
        if thread.is_alive():
            raise Failure("a restart hangs")
        self.say(f"  the restart ended with {caught or 'an answer'}")
        self.job.forget_ranks()
        return lost

    def check(self, name, lost):
        self.say(f"restarted from {name}, promised {self.promised}, {lost} nodes lost")
        if lost <= self.losses and (name or "") < (self.promised or ""):
            raise Failure(f"the restart is from {name}, and {self.promised} was promised")
        if name is None:
            return
        if name not in self.sizes:
            raise Failure(f"nobody has written {name}")
        for rank in range(self.job.ranks):
            path = self.job.rank(rank).restart_path(self.job.file_name(rank))
            if path.read_bytes() != self.job.content(name, rank, self.sizes[name]):
                raise Failure(f"rank {rank} restarts from other bytes than it wrote")
        self.promised = name

    def bad_day(self):
        for _ in range(self.rng.randint(1, 3)):
            self.write()
        fault = self.rng.choice(("node", "node", "agent", "coordinator", "node+coordinator", "node+later+coordinator",
                                 "coordinator+later+node", "agent+coordinator", "agent+node"))
        moment = self.rng.choice(("rest", "encode", "rebuild"))
        self.say(f"at {moment}")
        if moment == "encode":
            self.write(wait=False)
            time.sleep(self.rng.uniform(0, 0.3))
        lost = self.lose(fault)
        self.job.forget_ranks()
        self.replace()
        if moment == "rebuild":
            second = self.rng.choice(("node", "agent", "coordinator", "node+coordinator"))
            lost += self.restart_while(second)
            self.replace()
        self.check(self.restart(), lost)

    def end(self):
        for _ in range(2):
            self.write()
        said = self.job.end_with_settle()
        if said.returncode != 0:
            raise Failure(f"the end says {said.returncode}: {said.stdout}{said.stderr}")
        if self.promised not in self.job.stored_sets():
            raise Failure(f"{self.promised} is not stored: {self.job.stored_sets()}")
        self.job.check_restores(self.promised, size=self.sizes[self.promised])


class ChaosJob(TierJob):
    def __init__(self, *words, **named):
        super().__init__(*words, **named)
        self.gone = []

    def places(self):
        return self._places


def run(forebay, library, seed, keep):
    """Why it failed, or nothing."""
    rng = random.Random(seed)
    scheme = rng.choice(sorted(LOSSES))
    nodes = rng.choice((4, 5))
    begin = time.monotonic()
    words = {"nodes": nodes, "spares": 8, "ranks": nodes * rng.choice((1, 2)),
             "aggregator_words": ("--flush-every", rng.choice((0, 0, 2, 3)))}
    job = ChaosJob(forebay, library, scheme, **words)
    one = Run(job, rng, scheme)
    why = None
    with job:
        try:
            job.start(aggregators=2)
            for _ in range(rng.randint(1, 2)):
                one.bad_day()
            one.end()
        except (Failure, AssertionError, client.CallFailed, OSError) as error:
            why = f"{type(error).__name__}: {error}"
            if keep:
                place = Path(keep) / str(seed)
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir(parents=True)
                for log in job.directory.glob("*.log"):
                    shutil.copy(log, place)
                (place / "said").write_text("\n".join([*one.said, traceback.format_exc()]))
    print(f"{seed}: {scheme}, {words['nodes']} nodes, {words['ranks']} ranks, {time.monotonic() - begin:.1f} s: "
          f"{why or 'holds'}", flush=True)
    if why:
        print("  " + "\n  ".join(one.said), flush=True)
    return why


def main():
    words = argparse.ArgumentParser()
    words.add_argument("forebay")
    words.add_argument("library")
    words.add_argument("--runs", type=int, default=1)
    words.add_argument("--first", type=int, default=None, help="the first seed; none: from the clock")
    words.add_argument("--seconds", type=float, default=float("inf"), help="no run begins after that")
    words.add_argument("--keep", help="where the logs of runs that failed go")
    given = words.parse_args()
    first = given.first if given.first is not None else int(time.time()) % 1_000_000
    library = client.Library(given.library)
    begin, runs, failed = time.monotonic(), 0, []
    for seed in range(first, first + given.runs):
        if time.monotonic() - begin > given.seconds:
            break
        runs += 1
        if run(given.forebay, library, seed, given.keep):
            failed.append(seed)
    print(f"{runs} runs, {len(failed)} failed: {failed}")
    sys.exit(1 if failed or runs == 0 else 0)


if __name__ == "__main__":
    main()
