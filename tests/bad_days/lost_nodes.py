#!/usr/bin/env python3
"""Bad days of an MPI simulation under `forebay run` on three nodes: one of them is lost for good, and a spare takes its
place, or it hangs. As in the demonstration, it ends as if nothing had happened, bit for bit.
Usage: lost_nodes.py FOREBAY LIBFOREBAY SCENARIO|--list, with the environment variables MINI_SIM and MPIEXEC.
"""

import filecmp
import os
import signal
import subprocess
import sys
from pathlib import Path

import nodes
from job import Daemon, Failure, wait_until
from scenarios import Skip, main, needs, scenario

NODES, SPARES, RANKS = 3, 2, 6
SIMULATION = ("--sedov", "--cells", 16, "--steps", 80, "--every", 10, "--work", 0.3)
LAST = "dump_0008"

# Starts a command on a node as ssh does: LAUNCHER [OPTIONS] ADDRESS COMMAND. Each node has a directory of its own where all
# have their stage.
LAUNCHER = """#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
node=${{1##*.}}; shift
[ ! -e {directory}/closed-$node ] || exit 1
exec ip netns exec {name}n$((node - 1)) sh -c "mount --bind {directory}/node$node {stage} && exec $*"
"""

# Starts nothing where one of the application's nodes is closed, as srun does; mpiexec would wait for ever.
START = """for node in $(sed 's/.*[.]\\([0-9]*\\):.*/\\1/' "$FOREBAY_NODES_FILE"); do [ ! -e {directory}/closed-$node ] || exit 1; done
exec "$@"
"""


class Cluster:
    """NODES nodes and SPARES spares, and another one for `forebay run`."""

    def __init__(self, job, net):
        self.job, self.net, self.directory = job, net, job.directory
        self.head = net.prefix(NODES + SPARES)
        self.stage = self.directory / "stage"
        self.hosts = [f"10.87.0.{node + 1}" for node in range(NODES + SPARES)]
        for path in (self.stage, *(self.directory / f"node{node + 1}" for node in range(NODES + SPARES))):
            path.mkdir(exist_ok=True)
        (self.directory / "hosts").write_text("".join(f"{host}:2\n" for host in self.hosts))
        self.launcher = self.directory / "launcher"
        name = net.prefix(0)[-1].removesuffix("n0")
        self.launcher.write_text(LAUNCHER.format(name=name, directory=self.directory, stage=self.stage))
        self.launcher.chmod(0o755)

    def undisturbed(self):
        """The directory of the checkpoints of a run that nobody disturbs, on this node."""
        out = self.directory / "undisturbed"
        words = [needs("MPIEXEC"), "-n", RANKS, needs("MINI_SIM"), *SIMULATION[:-2], "--out", out]
        subprocess.run([*map(str, words)], check=True, timeout=60, stdout=subprocess.DEVNULL)
        return out

    def run(self, *options):
        head = f"10.87.0.{NODES + SPARES + 1}"
        mpiexec = [needs("MPIEXEC"), "-f", "{nodes}", "-launcher", "ssh", "-launcher-exec", self.launcher, "-localhost", head,
                   "-n", RANKS]
        # Not TCP: over it MPICH 4.0 with UCX 1.13 hangs in MPI_Finalize in one run of three, without Forebay, too.
        os.environ.update(UCX_TLS="posix,self")
        return Daemon("run", [
            *self.head, self.job.forebay, "run", "--store", self.job.store, "--stage", self.stage, "--nodes-file",
            self.directory / "hosts", "--spares", SPARES, "--launcher", self.launcher, "--rendezvous", self.job.rendezvous,
            "--peer-timeout", 2, "--node-timeout", 3, "--grace", 5, "--backlog", "block", "--profile", "fast",
            "--relaunch", 2, *options, "--", "sh", "-c", START.format(directory=self.directory), "start", *mpiexec,
            needs("MINI_SIM"), *SIMULATION], self.directory / "run.log")

    def ranks(self):
        """The processes of the simulation."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                is_one = Path(os.readlink(path.parent / "exe")).name == Path(needs("MINI_SIM")).name
                if is_one and str(self.job.rendezvous).encode() in path.read_bytes():
                    found.append(int(path.parent.name))
            except OSError:
                continue
        return found

    def check_the_same(self, undisturbed):
        """All sets of the store are those of the undisturbed run, and the last one is there."""
        stored = self.job.stored_sets()
        assert LAST in stored, stored
        for name in stored:
            target = self.directory / f"restored-{name}"
            subprocess.run([self.job.forebay, "restore", name, "--store", self.job.store, "--to", target], check=True,
                           timeout=60, stdout=subprocess.DEVNULL)
            expected = undisturbed / name.split("+")[0]
            files = sorted(path.name for path in expected.iterdir())
            assert files == sorted(path.name for path in target.iterdir()), name
            same, *others = filecmp.cmpfiles(expected, target, files, shallow=False)
            assert same == files and others == [[], []], (name, others)


class Bed:
    """A cluster that runs the simulation, of which two sets are durable."""

    def __init__(self, new_job, *options):
        if not os.environ.get("MINI_SIM"):
            raise Skip("the example simulation is not built")
        try:
            self._net = nodes.Nodes(NODES + SPARES + 1)
        except nodes.Unavailable as reason:
            raise Skip(reason) from None
        self._new_job, self._options = new_job, options

    def __enter__(self):
        self._job = self._new_job()
        self.cluster = Cluster(self._job, self._net)
        self._undisturbed = self.cluster.undisturbed()
        self.run = self.cluster.run(*self._options)
        try:
            self.wait(lambda: len(self._job.stored_sets()) >= 2, "two sets are durable")
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def wait(self, condition, what, seconds=60):
        wait_until(what, lambda: condition() or not self.run.alive(), seconds)
        if not self.run.alive() and not condition():
            raise Failure(f"the run has ended before {what}")

    def wait_for_text(self, text):
        self.wait(lambda: text in self.run.text(), text)

    def check_end(self):
        """The run ends well, and as one that nobody has disturbed."""
        wait_until("the run ends", lambda: not self.run.alive(), 45)
        assert self.run.code() == 0
        assert "resum" in self.run.text()
        self.cluster.check_the_same(self._undisturbed)

    def __exit__(self, failed, *_):
        if failed:
            logs = sorted((self._job.rendezvous / "log").glob("ag*"))
            for path in (self.run.log, *logs):
                print(f"---- {path.name}\n{path.read_text(errors='replace')[-4000:]}", flush=True)
        if self.run.alive():
            self.run.end()
        self._job.__exit__(failed)
        self._net.remove()


@scenario
def node_lost_and_a_spare_takes_its_place(new_job):
    with Bed(new_job) as bed:
        bed.cluster.net.cut(1)
        bed.wait_for_text("10.87.0.2 is lost: 10.87.0.4 takes its place")
        bed.cluster.net.heal(1)
        bed.check_end()
        assert "it is started again (1 of 2)" in bed.run.text()


@scenario
def node_lost_and_its_spare_too(new_job):
    with Bed(new_job) as bed:
        for node in (1, 3):
            bed.cluster.net.cut(node)
        bed.wait_for_text("10.87.0.2 is lost: 10.87.0.4 takes its place")
        bed.wait_for_text("10.87.0.4 is lost: 10.87.0.5 takes its place")
        bed.check_end()
        assert "it is started again (1 of 2)" in bed.run.text(), "no start is spent on a node that is gone"


@scenario
def node_where_nothing_starts_any_more(new_job):
    """Its agent is well, as in a batch system that has closed the node: no start is spent on it, and a spare takes its place."""
    with Bed(new_job) as bed:
        (bed.cluster.directory / "closed-2").touch()
        os.kill(bed.cluster.ranks()[0], signal.SIGKILL)
        bed.wait_for_text("2 starts have died on node 10.87.0.2 before a rank knew where to begin: 10.87.0.4 takes its place")
        bed.check_end()
        text = bed.run.text()
        assert "it is started again (1 of 2)" in text and "(2 of 2)" not in text, "no start is spent on a node that is closed"
        assert text.count("no attempt is used up") == 2, text


@scenario
def rank_that_hangs(new_job):
    """The others spin while they wait for it, so only sets tell."""
    with Bed(new_job, "--set-interval", 5) as bed:
        os.kill(bed.cluster.ranks()[0], signal.SIGSTOP)
        bed.wait_for_text("the application is ended: it hangs: it has completed no set for 5 s")
        bed.check_end()


if __name__ == "__main__":
    main()
