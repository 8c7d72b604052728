#!/usr/bin/env python3
"""Programs written for SCR on several nodes, as job scripts start them: `scr_run mpiexec ...` on network namespaces, one of which is
lost with all that it has. The program continues on the spare, and its sets are in the store.

Usage: scr_nodes.py FOREBAY SCENARIO|--list, with the environment variables PROGRAM, FORTRAN and MPIEXEC (MPICH's).
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bad_days"))

import nodes  # noqa: E402
from job import Daemon, Failure, wait_until  # noqa: E402
from scenarios import SCENARIOS, SKIP, Skip, needs, scenario  # noqa: E402

# Starts a command on a node as ssh does: LAUNCHER [OPTIONS] ADDRESS COMMAND. Each node has a directory of its own where all
# have their cache.
LAUNCHER = """#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
node=${{1##*.}}; shift
exec ip netns exec {name}n$((node - 1)) sh -c "mount --bind {top}/node$node {cache} && exec $*"
"""
LINES = ("restarted", "completed", "not completed", "passed over", "failed", "rank ")


class Cluster:
    """`count` nodes of a rank each, and another one where the job script runs; everything below one temporary directory."""

    def __init__(self, forebay, count, spares=1, lines=(), **keys):
        try:
            self.net = nodes.Nodes(count + spares + 1)
        except nodes.Unavailable as reason:
            raise Skip(reason) from None
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.forebay, self.count, self.wrap = forebay, count, ()
        self.top = Path(tempfile.mkdtemp(prefix="forebay-scr-", dir=memory))
        self.prefix, self.cache, self.links = self.top / "prefix", self.top / "cache", self.top / "bin"
        self.head, self.run = self.net.prefix(count + spares), None
        self.hosts = [f"10.87.0.{node + 1}" for node in range(count + spares)]
        for path in (self.prefix, self.cache, self.links, *(self.top / f"node{i + 1}" for i in range(len(self.hosts)))):
            path.mkdir()
            if path.name.startswith("node"):
                (path / "ssd").mkdir()
        for name in ("scr_run", "scr_index", "scr_postrun"):
            (self.links / name).symlink_to(forebay)
        (self.top / "hosts").write_text("".join(f"{host}:1\n" for host in self.hosts))
        self.launcher = self.top / "launcher"
        name = self.net.prefix(0)[-1].removesuffix("n0")
        self.launcher.write_text(LAUNCHER.format(name=name, top=self.top, cache=self.cache))
        self.launcher.chmod(0o755)
        # As if each had a machine of its own.
        groups = "".join(f"GROUPS={host} NODE={host}\n" for host in self.hosts)
        values = {"SCR_CACHE_BYPASS": 0, "SCR_CACHE_SIZE": 2, "SCR_RUNS": 3, "SCR_MIN_NODES": count, **keys}
        described = "".join(line.format(cache=self.cache) + "\n" for line in lines)
        (self.prefix / ".scrconf").write_text(groups + described + "".join(f"{key}={value}\n" for key, value in values.items()))
        # Not TCP: over it MPICH 4.0 with UCX 1.13 hangs in MPI_Finalize in one run of three, without Forebay, too.
        self.environment = os.environ | {"SCR_PREFIX": str(self.prefix), "SCR_CACHE_BASE": str(self.cache), "UCX_TLS": "posix,self"}

    def scr(self, name, *words):
        done = subprocess.run([*self.head, self.links / name, *words], env=self.environment, cwd=self.prefix, text=True,
                              capture_output=True, timeout=60, check=False)  # fmt: skip
        if done.returncode != 0:
            raise Failure(f"{name} {words}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self, program, *arguments):
        address = f"10.87.0.{len(self.hosts) + 1}"
        os.environ.update(self.environment)
        self.run = Daemon("run", [
            *self.head, "env", "-C", self.prefix, self.links / "scr_run", f"--nodes-file={self.top / 'hosts'}", f"--launcher={self.launcher}", "--grace=3", "--peer-timeout=2",
            "--node-timeout=2",
            needs("MPIEXEC"), "-f", "{nodes}", "-launcher", "ssh", "-launcher-exec", self.launcher, "-localhost", address,
            "-n", self.count, *self.wrap, program, *arguments], self.top / "run.log")  # fmt: skip
        return self

    def wait_for(self, text, seconds=40):
        wait_until(f"'{text}' is said", lambda: text in self.run.text() or not self.run.alive(), seconds)
        if text not in self.run.text():
            raise Failure(f"the run has ended before '{text}'")

    def lose(self, node):
        """The node is gone: nothing reaches it, nothing runs on it, and what it had is lost."""
        self.net.cut(node)
        self.kill_all(node)
        shutil.rmtree(self.top / f"node{node + 1}")

    def boot(self, node):
        """The node is there again at once, with nothing that ran on it or lay in its memory."""
        self.kill_all(node)
        own = self.top / f"node{node + 1}"
        shutil.rmtree(own)
        own.mkdir()

    def wait_for_end(self, code=0, seconds=60):
        wait_until("the run ends", lambda: not self.run.alive(), seconds)
        if self.run.code() != code:
            raise Failure(f"scr_run has ended with {self.run.code()}")
        return [line for line in self.run.text().splitlines() if line.startswith(LINES)]

    def stored(self):
        listed = subprocess.run([self.forebay, "ls", self.prefix / ".scr/store", "--json"], capture_output=True, check=True, timeout=60)
        return {entry["name"] for entry in json.loads(listed.stdout)["sets"]}

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        try:
            if failed and self.run:
                self.tell()
            if self.run and self.run.alive():
                self.run.end()
        finally:
            for node in range(len(self.hosts) + 1):
                self.kill_all(node)
            self.net.remove()
            shutil.rmtree(self.top, ignore_errors=True)

    def tell(self):
        for path in (self.run.log, *sorted(self.prefix.glob(".scr/**/log*/*"))):
            if path.is_file():
                print(f"---- {path}\n{path.read_text(errors='replace')[-6000:]}", flush=True)

    def kill_aggregators(self):
        """All that are left, and so the one that coordinates."""
        killed = [pid for node in range(len(self.hosts) + 1) for pid in self.pids(node)
                  if b"\0aggregator\0" in Path(f"/proc/{pid}/cmdline").read_bytes()]  # fmt: skip
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        if not killed:
            raise Failure("no aggregator runs")

    def pids(self, node):
        return [int(pid) for pid in subprocess.run(["ip", "netns", "pids", self.net.prefix(node)[-1]], capture_output=True, text=True,
                                                   check=False).stdout.split()]  # fmt: skip

    def kill_all(self, node):
        """What runs on the node."""
        for pid in self.pids(node):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def lose_a_node(forebay, program, look=lambda cluster: None, lines=(), *, also=lambda cluster: None, **keys):
    """Sets 1 to 8, of which every third is due; a node is lost after the fourth, and the last one is stored at the end."""
    with Cluster(forebay, 3, lines=lines, SCR_FLUSH=3, FOREBAY_SCR_WAIT=1, **keys) as cluster:
        cluster.start(program, "--sets", 8, "--work", 250, "--until", 8)
        cluster.wait_for("\ncompleted ckpt.4")
        look(cluster)
        cluster.lose(1)
        also(cluster)
        lines = cluster.wait_for_end()
        restarted = [line.split(".")[-1] for line in lines if line.startswith("restarted")]
        assert restarted[0] == "restarted nothing" and len(restarted) == 2 and int(restarted[1]) >= 4, lines
        assert lines[-1] == "completed ckpt.8", lines
        assert {"ckpt.3", "ckpt.6", "ckpt.8"} <= cluster.stored(), cluster.stored()
        index = {entry["name"]: entry for entry in json.loads(cluster.scr("scr_index", "--json"))["sets"]}
        assert {name for name, entry in index.items() if entry["flushed"]} == cluster.stored(), index


@scenario
def a_node_is_lost_under_xor(forebay):
    lose_a_node(forebay, needs("PROGRAM"), SCR_COPY_TYPE="XOR")


@scenario
def a_node_comes_back_empty_and_the_job_encrypts(forebay):
    """Its agent is started there again, in directories that are made again; what it had is rebuilt. All encrypt."""
    with Cluster(forebay, 3, spares=0, SCR_COPY_TYPE="XOR", SCR_FLUSH=0, FOREBAY_SCR_WAIT=1, FOREBAY_SCR_ENCRYPT=1) as cluster:
        cluster.start(needs("PROGRAM"), "--sets", 6, "--work", 250, "--until", 6)
        cluster.wait_for("\ncompleted ckpt.3")
        rendezvous = next(cluster.prefix.glob(".scr/**/encrypted")).parent
        plain = rendezvous.with_name("plain")  # of a party that has the secret, and does not encrypt
        shutil.copytree(rendezvous, plain, ignore=shutil.ignore_patterns("encrypted"))
        said = subprocess.run([*cluster.net.prefix(0), forebay, "status", "--rendezvous", plain], capture_output=True, text=True, timeout=60,
                              check=False)  # fmt: skip
        assert said.returncode != 0 and "start all of the job with --encrypt, or none" in said.stderr, said
        shutil.rmtree(plain)
        cluster.boot(1)
        lines = cluster.wait_for_end()
        restarted = [line.split(".")[-1] for line in lines if line.startswith("restarted")]
        assert restarted[0] == "restarted nothing" and len(restarted) == 2 and int(restarted[1]) >= 3, lines
        assert lines[-1] == "completed ckpt.6", lines
        assert next(cluster.top.glob("node2/forebay-*/scr.*")).is_dir()


@scenario
def a_node_is_lost_that_has_two_cache_levels(forebay):
    """Every second set lies on another level, with its parity; the one from which the program goes on among them."""

    def look(cluster):
        for node in (1, 2, 3):
            level = next(cluster.top.glob(f"node{node}/ssd/forebay-*/scr.*"))
            sets = {path.name.split(".")[1] for path in level.glob("ckpt.*")}
            assert "4" in sets and not {"1", "3"} & sets, sets
            assert len(list(level.glob("*.parity"))) == len(sets), list(level.iterdir())

    lines = ["STORE={cache}/ssd COUNT=2", "CKPT=0 INTERVAL=1 TYPE=XOR", "CKPT=1 INTERVAL=2 TYPE=XOR STORE={cache}/ssd"]
    lose_a_node(forebay, needs("PROGRAM"), look, lines)


@scenario
def a_node_is_lost_with_the_coordinator_under_partner_and_the_program_is_in_fortran(forebay):
    lose_a_node(forebay, needs("FORTRAN"), also=Cluster.kill_aggregators, SCR_COPY_TYPE="PARTNER")


@scenario
def a_program_that_hangs_is_ended_and_started_again(forebay):
    """SCR_WATCHDOG_TIMEOUT: no set comes in time."""
    with Cluster(forebay, 2, spares=0, SCR_COPY_TYPE="XOR", SCR_WATCHDOG_TIMEOUT=3, SCR_RUNS=2) as cluster:
        cluster.start(needs("PROGRAM"), "--sets", 2, "--work", 60000)
        wait_until("the run ends", lambda: not cluster.run.alive(), 60)
        assert cluster.run.code() != 0, cluster.run.text()
        assert cluster.run.text().count("restarted nothing") == 2, cluster.run.text()


def main():
    if sys.argv[-1] == "--list":
        print("\n".join(SCENARIOS))
        return
    forebay, name = sys.argv[1:]
    try:
        SCENARIOS[name](Path(forebay).resolve())
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIP)
    except (Failure, AssertionError, subprocess.SubprocessError):
        traceback.print_exc()
        sys.exit(1)


if __name__ == "__main__":
    main()
