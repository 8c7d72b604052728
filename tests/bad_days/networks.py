#!/usr/bin/env python3
"""A job on nodes of their own network, and bad days of that network: nodes are cut off.

Usage: networks.py FOREBAY LIBFOREBAY SCENARIO|--list
"""

import subprocess

import client
import nodes
from job import LARGE, SET_TIMEOUT, SLOW, wait_until
from scenarios import Skip, main, scenario


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
        assert code == client.SET_FAILED, client.NAMES[code]
        job.check_restores("dump_1")
        assert job.stored_sets() == ["dump_1"], job.stored_sets()


if __name__ == "__main__":
    main()
