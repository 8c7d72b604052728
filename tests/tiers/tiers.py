#!/usr/bin/env python3
"""Caches that survive nodes: four nodes protect each other's checkpoint sets, some are lost, and the ranks restart with
spares in their place, from the right set and the right bytes, or with a clear answer on all ranks.

Usage: tiers.py FOREBAY LIBFOREBAY SCENARIO|--list
"""

import contextlib
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

from tier_job import CACHED, SIZE, Failure, TierJob, client, in_background, pause, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bad_days"))
import encryption  # noqa: E402, F401
import nodes  # noqa: E402
from scenarios import SCENARIOS, SKIP, Skip, mount_small, scenario  # noqa: E402

LARGE = 6_000_000


def cached_files(stage, name):
    """The regular files of encodings in a stage."""
    return [path for path in (stage / ".forebay" / "cache").rglob("*") if path.is_file() and path.name == name]


def flip(path, offset):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1]))


@scenario
def nothing_is_lost(new_job):
    """Where the same ranks ask on the same nodes, the newest set is there already, and nothing went to the store."""
    with new_job("xor").start() as job:
        for step in range(4):
            job.write_cached(f"dump_{step}", step)
        assert job.stored_sets() == []
        job.forget_ranks()
        job.expect_restart("dump_3")
        kept = [name for name in ("dump_0", "dump_1", "dump_2", "dump_3") if (job.stages[0] / name).exists()]
        assert kept == ["dump_2", "dump_3"], kept


def lose_and_restart(new_job, scheme, lost, **words):
    with new_job(scheme, **words).start() as job:
        job.write_cached("dump_1", 1)
        job.write_cached("dump_2", 2)
        job.lose(*lost)
        job.replace(*lost)
        job.expect_restart("dump_2")
        job.write_cached("dump_3", 3)  # and it goes on
        assert job.stored_sets() == []


@scenario
def a_node_lost_under_partner(new_job):
    lose_and_restart(new_job, "partner", [1])


@scenario
def a_node_lost_under_xor(new_job):
    lose_and_restart(new_job, "xor", [2])


@scenario
def two_nodes_lost_under_rs(new_job):
    lose_and_restart(new_job, "rs:2", [0, 3])


@scenario
def a_node_lost_without_redundancy(new_job):
    """The sets are gone with it: the ranks begin from scratch, all of them."""
    with new_job("none").start() as job:
        job.write_cached("dump_1", 1)
        job.lose(1)
        job.replace(1)
        job.expect_no_restart()


@scenario
def more_nodes_lost_than_xor_survives(new_job):
    """What was stored before is what is left."""
    with new_job("xor", aggregator_words=("--flush-every", 2)).start() as job:
        for step in (1, 2, 3):
            job.write_set(f"dump_{step}", 100 - step, SIZE)
            wait_until("the set is protected", lambda: job.wait_for_set(f"dump_{step}", 1) in (client.OK, CACHED), 40)
        stored = job.stored_sets()
        assert len(stored) == 1 and stored[0] != "dump_3", stored
        job.lose(0, 1)
        job.replace(0, 1)
        job.expect_restart(stored[0])


@scenario
def one_node_after_the_other(new_job):
    """A restart makes the set as safe as it was before."""
    with new_job("xor").start() as job:
        job.write_cached("dump_1", 1)
        for node in (0, 1):
            job.lose(node)
            job.replace(node)
            job.expect_restart("dump_1")
            job.forget_ranks()


@scenario
def survivors_change_places(new_job):
    """What a node has of a set is what its ranks complete there now, whichever ranks it had before."""
    with new_job("xor", ranks=4).start() as job:
        job.write_cached("dump_1", 1)
        job.lose(1)
        job.replace(1).place_in_order()
        job.expect_restart("dump_1")
        job.write_cached("dump_2", 2)
        job.lose(0)
        job.replace(0)
        job.expect_restart("dump_2")


@scenario
def the_same_node_comes_back_empty(new_job):
    with new_job("xor", spares=0).start() as job:
        job.write_cached("dump_1", 1)
        job.lose(3)
        job.come_back(3)
        job.expect_restart("dump_1")


@scenario
def all_daemons_killed(new_job):
    """As if the machine room had lost its power, and the nodes' disks had not. Which set is the newest is known still: the
    one that was completed last, not that of the higher step."""
    with new_job("xor", agent_words=("--sync-caches",)).start() as job:
        job.write_cached("dump_2", 2)
        job.write_cached("dump_1", 1)
        job.forget_ranks()
        for daemon in (*job.agents[:4], *job.aggregators):
            daemon.kill()
        job.start()
        job.expect_restart("dump_1")


@scenario
def coordinator_killed_and_a_node_lost(new_job):
    with new_job("xor").start(aggregators=2) as job:
        job.write_cached("dump_1", 1)
        job.coordinator().kill()
        job.lose(2)
        job.replace(2)
        job.expect_restart("dump_1")


@scenario
def a_byte_flipped_in_a_cached_file(new_job):
    with new_job("xor").start() as job:
        job.write_cached("dump_1", 1)
        job.forget_ranks()
        flip(job.staged("dump_1", 3), SIZE - 7)
        job.expect_restart("dump_1")


@scenario
def a_byte_flipped_and_a_node_lost(new_job):
    """More than the group survives at that place: the set before is taken, and never a wrong byte."""
    with new_job("xor").start() as job:
        job.write_cached("dump_1", 1)
        job.write_cached("dump_2", 2)
        flip(job.staged("dump_2", 0), 5)
        job.lose(3)
        job.replace(3)
        answers = job.restart(60)
        names = {answer and answer[0] for answer in answers}
        assert len(names) == 1 and names <= {"dump_1", "dump_2"}, answers
        job.check_restarted(answers, names.pop(), SIZE)


@scenario
def parity_damaged_and_a_node_lost(new_job):
    """Parity that was damaged is never used."""
    with new_job("xor").start() as job:
        job.write_cached("dump_1", 1)
        job.write_cached("dump_2", 2)
        for path in cached_files(job.stages[0], "parity"):
            flip(path, 11)
        job.lose(3)
        job.replace(3)
        answers = job.restart(60)
        names = {answer and answer[0] for answer in answers}
        assert len(names) == 1 and names <= {"dump_1", "dump_2", None}, answers
        if names != {None}:
            job.check_restarted(answers, names.pop(), SIZE)


@scenario
def node_lost_while_it_is_encoded(new_job):
    """The set that was not sealed may be lost; the one before is not."""
    with new_job("xor").start() as job:
        job.write_cached("dump_1", 1)
        pause(job.agents[2])
        for rank in (0, 1, 2, 3, 6, 7):
            one = job.rank(rank)
            one.begin("dump_2", 2)
            one.path(job.file_name(rank)).write_bytes(job.content("dump_2", rank, SIZE))
            one.complete()
        time.sleep(1)
        job.lose(2)
        job.replace(2)
        job.expect_restart("dump_1")


@scenario
def agent_killed_while_it_encodes(new_job):
    """Started again, it finds the set, which is encoded anew; or it is the one before."""
    with new_job("rs:2").start() as job:
        job.write_cached("dump_1", 1)
        job.write_set("dump_2", 2, LARGE)
        job.agents[1].kill()
        job.forget_ranks()
        job.start_agent(1)
        answers = job.restart(60)
        names = {answer and answer[0] for answer in answers}
        assert len(names) == 1 and names <= {"dump_1", "dump_2"}, answers
        name = names.pop()
        job.check_restarted(answers, name, LARGE if name == "dump_2" else SIZE)


@scenario
def what_another_job_left_is_not_taken(new_job):
    """Encodings that lie in a stage, of a set that nobody wrote there, are of no use to anybody."""
    with new_job("xor").start() as job:
        job.write_cached("dump_1", 1)
        with new_job("xor").start() as other:
            other.write_cached("alien", 7)
            for node in range(4):
                for path in (other.stages[node] / ".forebay" / "cache").iterdir():
                    shutil.copytree(path, job.stages[node] / ".forebay" / "cache" / path.name)
        job.forget_ranks()
        for node in range(4):
            job.agents[node].kill()
            job.start_agent(node)
        job.wait_for_agents(4)
        job.expect_restart("dump_1")


@scenario
def every_second_set_is_stored(new_job):
    with new_job("partner", aggregator_words=("--flush-every", 2)).start() as job:
        for step in range(1, 5):
            job.write_set(f"dump_{step}", step, SIZE)
            wait_until("the set is protected", lambda: job.wait_for_set(f"dump_{step}", 1) in (client.OK, CACHED), 40)
        wait_until("half of the sets are stored", lambda: len(job.stored_sets()) == 2)
        for name in job.stored_sets():
            job.check_restores(name, size=SIZE)


def restart_or_fail(job):
    try:
        job.restart(60)
    except client.CallFailed:
        pass  # a clear answer, too


@scenario
def survivor_killed_in_a_restart(new_job):
    """Another node is lost over the repair: with two losses it is still there."""
    with new_job("rs:2", ranks=4).start() as job:
        job.write_cached("dump_1", 1, LARGE)
        job.lose(0)
        job.replace(0)
        for rank in range(job.ranks):
            job.rank(rank)
        thread = in_background(lambda: restart_or_fail(job))
        time.sleep(0.15)
        job.agents[1].kill()
        thread.join(90)
        assert not thread.is_alive(), "the restart hangs"
        job.forget_ranks()
        shutil.rmtree(job.stages[1])
        job.replace(1)
        job.expect_restart("dump_1", LARGE)


@scenario
def the_end_stores_the_newest(new_job):
    with new_job("xor").start() as job:
        job.write_cached("dump_1", 1)
        job.write_cached("dump_2", 2)
        assert job.stored_sets() == []
        said = job.end_with_settle()
        assert said.returncode == 0, said.stderr
        assert job.stored_sets() == ["dump_2"], job.stored_sets()
        job.check_restores("dump_2", size=SIZE)


@scenario
def the_end_rebuilds_and_stores_what_a_lost_node_had(new_job):
    with new_job("xor").start() as job:
        job.write_cached("dump_1", 1)
        job.lose(2)
        job.end_with_settle()
        assert job.stored_sets() == ["dump_1"], job.stored_sets()
        job.check_restores("dump_1", size=SIZE)


@scenario
def node_lost_in_a_flush(new_job):
    """The set was protected before it was on its way to the store: a restart rebuilds it, and does not wait for that."""
    with new_job("xor", ranks=4, aggregator_words=("--flush-every", 2, "--pfs-limit", "1M")).start() as job:
        job.write_cached("dump_1", 1)
        job.write_set("dump_2", 2, 2 * SIZE)
        job.wait_draining("dump_2")
        job.lose(1)
        job.replace(1)
        job.expect_restart("dump_2", 2 * SIZE)


@scenario
def all_nodes_lost_but_one(new_job):
    with new_job("xor", spares=3, aggregator_words=("--flush-every", 2)).start() as job:
        job.write_cached("dump_1", 1)
        job.write_set("dump_2", 2, SIZE)
        job.expect_durable("dump_2")
        job.write_cached("dump_3", 3)
        job.lose(0, 1, 2)
        job.replace(0, 1, 2)
        job.expect_restart("dump_2")


@contextlib.contextmanager
def small_directory(directory, size):
    mount_small(directory, size)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", directory], check=True)


@scenario
def store_is_full(new_job):
    """Sets go on being protected, a restart is from the newest, and the reason is told."""
    with new_job("xor", ranks=4, aggregator_words=("--flush-every", 2)) as job:
        job.store.mkdir()
        with small_directory(job.store, "300k"):
            job.start()
            job.write_cached("dump_1", 1)
            job.write_set("dump_2", 2, SIZE)
            job.expect_log("dump_2", "No space left on device")
            job.write_cached("dump_3", 3)
            job.lose(3)
            job.replace(3)
            job.expect_restart("dump_3")


@scenario
def cache_is_full(new_job):
    """What protects a set does not fit on a node: the set is stored instead, and the full disk is named."""
    with new_job("xor", ranks=4) as job, small_directory(job.stages[2], "360k"):
        job.start()
        job.write_set("dump_1", 1, SIZE)
        job.expect_durable("dump_1", 10)
        job.expect_log("dump_1", "stored instead", "No space left on device", str(job.stages[2]))
        job.check_restores("dump_1", size=SIZE)


@scenario
def node_cut_off_that_comes_back(new_job):
    """Its ranks went on elsewhere: what it has is of no use, and does no harm."""
    try:
        net = nodes.Nodes(6)
    except nodes.Unavailable as reason:
        raise Skip(reason) from None
    with net, new_job("xor", spares=1, prefixes=[net.prefix(i) for i in range(6)]).start() as job:
        job.write_cached("dump_1", 1)
        job.write_cached("dump_2", 2)
        net.cut(2)
        job.forget_ranks()
        job.replace(2)
        job.expect_restart("dump_2")
        job.write_cached("dump_3", 3)
        net.heal(2)
        job.wait_for_agents(5)
        job.forget_ranks()
        job.expect_restart("dump_3")


@scenario
def clocks_that_are_days_apart(new_job):
    """What is newest, what may go and what is due follows from the order of completion, by no clock and by no step."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if library is None:
        raise Skip("there is no libfaketime (Debian: faketime)")
    job = new_job("xor", aggregator_words=("--flush-every", 3))
    days = [2, -3, 0, 9, -1, 4, -2]  # of the nodes, the spares and the aggregator
    job.prefixes = [(*prefix, "env", f"LD_PRELOAD={library}", f"FAKETIME={day:+d}d", "FAKETIME_DONT_FAKE_MONOTONIC=1")
                    for prefix, day in zip(job.prefixes, days, strict=True)]  # fmt: skip
    with job.start():
        for step in range(1, 7):
            job.write_set(f"dump_{step}", step, SIZE)
            wait_until("the set is protected", lambda: job.wait_for_set(f"dump_{step}", 1) in (client.OK, CACHED), 40)  # noqa: B023
        kept = [name for name in (f"dump_{step}" for step in range(1, 7)) if (job.stages[0] / name).exists()]
        assert kept == ["dump_5", "dump_6"], kept
        job.lose(3)
        job.replace(3)
        job.expect_restart("dump_6")
        job.write_set("dump_7", 3, SIZE)
        wait_until("the set is protected", lambda: job.wait_for_set("dump_7", 1) in (client.OK, CACHED), 40)
        said = job.end_with_settle()
        assert said.returncode == 0, said.stderr
        assert set(job.stored_sets()) == {"dump_3", "dump_6", "dump_7"}, job.stored_sets()


def main():
    if sys.argv[-1] == "--list":
        print("\n".join(SCENARIOS))
        return
    forebay, library, name = sys.argv[1:]
    loaded = client.Library(library)
    try:
        SCENARIOS[name](lambda scheme, **words: TierJob(forebay, loaded, scheme, **words))
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIP)
    except (Failure, AssertionError, client.CallFailed):
        traceback.print_exc()
        sys.exit(1)


if __name__ == "__main__":
    main()
