#!/usr/bin/env python3
"""Bad days of an MPI simulation under `forebay run` on several nodes: one of them is lost for good, and a spare takes its
place. As in the demonstration, the simulation ends as if nothing had happened, bit for bit.
Usage: lost_nodes.py FOREBAY LIBFOREBAY SCENARIO|--list, with the environment variables MINI_SIM and MPIEXEC.
"""

import filecmp
import json
import os
import subprocess
import time

import nodes
from job import Daemon, wait_until
from scenarios import Skip, main, needs, scenario

NODES, SPARES, RANKS = 3, 1, 6
SIMULATION = ("--sedov", "--cells", 16, "--steps", 80, "--every", 10, "--work", 0.3)
LAST = "dump_0008"

# Starts a command on a node as ssh does: LAUNCHER [OPTIONS] ADDRESS COMMAND. Each node has a directory of its own where all
# have their stage.
LAUNCHER = """#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
node=${{1##*.}}; shift
exec ip netns exec {name}n$((node - 1)) sh -c "mount --bind {directory}/node$node {stage} && exec $*"
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
        os.environ.update(UCX_TLS="tcp,self", UCX_NET_DEVICES="e0")  # there is no memory that the nodes share
        return Daemon("run", [
            *self.head, self.job.forebay, "run", "--store", self.job.store, "--stage", self.stage, "--nodes-file",
            self.directory / "hosts", "--spares", SPARES, "--launcher", self.launcher, "--rendezvous", self.job.rendezvous,
            "--peer-timeout", 2, "--node-timeout", 3, "--grace", 5, "--backlog", "block", "--profile", "fast",
            "--relaunch", 2, *options, "--", *mpiexec, needs("MINI_SIM"), *SIMULATION], self.directory / "run.log")

    def finish(self, run, seconds=90):
        wait_until("the run ends", lambda: not run.alive(), seconds)
        assert run.code() == 0, run.text()
        return run.text()

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


def on_cluster(new_job):
    if not os.environ.get("MINI_SIM"):
        raise Skip("the example simulation is not built")
    try:
        net = nodes.Nodes(NODES + SPARES + 1)
    except nodes.Unavailable as reason:
        raise Skip(reason) from None
    return net, new_job()


@scenario
def node_lost_and_a_spare_takes_its_place(new_job):
    net, job = on_cluster(new_job)
    with net, job:
        cluster = Cluster(job, net)
        undisturbed = cluster.undisturbed()
        run = cluster.run()
        try:
            wait_until("two sets are durable", lambda: len(job.stored_sets()) >= 2, 60)
            net.cut(1)
            began = time.monotonic()
            wait_until("a spare takes over", lambda: "10.87.0.2 is lost: 10.87.0.4 takes its place" in run.text(), 40)
            print(f"after {time.monotonic() - began:.1f} s")
            net.heal(1)
            text = cluster.finish(run)
        except BaseException:
            print(run.text())
            run.end()
            raise
        assert "resuming from" in text or "resum" in text, text
        assert "it is started again (1 of 2)" in text, text
        cluster.check_the_same(undisturbed)


if __name__ == "__main__":
    main()
