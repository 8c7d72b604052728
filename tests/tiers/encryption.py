"""What can be seen on the wire of a job that encrypts, and of one that does not, and how processes that differ are refused.
Scenarios of tiers.py."""

import subprocess
import sys

import nodes
from scenarios import Skip, scenario
from tier_job import SIZE, wait_until


def pieces_on_the_wire(new_job, **words):
    """A job of nodes with networks of their own that loses one of them and restarts: how many pieces of its files, of 16 bytes each,
    somebody on the switch has seen."""
    try:
        net = nodes.Nodes(6)
    except nodes.Unavailable as reason:
        raise Skip(reason) from None
    with net, new_job("xor", spares=1, prefixes=[net.prefix(i) for i in range(6)], **words) as job:
        seen = job.directory / "seen"
        listen = subprocess.Popen([*net.switch_prefix(), sys.executable, "-c", LISTENER, seen])
        try:
            wait_until("somebody listens on the switch", seen.exists)
            job.start()
            job.write_cached("dump_1", 1)
            job.write_cached("dump_2", 2)
            job.lose(2)
            job.replace(2)
            job.expect_restart("dump_2")
            said = job.end_with_settle()
            assert said.returncode == 0, said.stderr
            job.check_restores("dump_2", size=SIZE)
        finally:
            listen.terminate()
            listen.wait(20)
        packets = seen.read_bytes()
        assert len(packets) > SIZE, "nothing was seen at all"
        pieces = [job.content(name, rank, SIZE)[at:at + 16] for name in ("dump_1", "dump_2") for rank in range(job.ranks)
                  for at in range(0, SIZE - 16, 10_000)]
        return sum(piece in packets for piece in pieces)


LISTENER = """
import socket, sys
packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
with open(sys.argv[1], "wb", buffering=0) as seen:
    while True:
        seen.write(packets.recv(1 << 17))
"""


@scenario
def nothing_is_seen_of_an_encrypted_job(new_job):
    seen = pieces_on_the_wire(new_job, agent_words=("--encrypt",), aggregator_words=("--encrypt",))
    assert seen == 0, f"{seen} pieces of files were seen on the wire"


@scenario
def a_job_that_does_not_encrypt_is_seen(new_job):
    """So the other one would see something."""
    assert pieces_on_the_wire(new_job) > 100


@scenario
def who_does_not_encrypt_is_refused_and_named(new_job):
    with new_job("xor", nodes=2, spares=0, ranks=2) as job:
        plain = job.start_agent(0)  # before the job is noted as one that encrypts
        job.start_aggregator("--encrypt", "--listen", "tcp:127.0.0.1:0")
        wait_until("the job is noted", (job.rendezvous / "encrypted").exists)
        job.start_agent(1)  # follows the note
        job.wait_for_agents(1)
        job.expect_log("no coordinator so far", "the job encrypts by now, and this process, which was started before, does not",
                       "end this process and start it again")
        plain.end()
        job.start_agent(0)
        job.wait_for_agents(2)
        job.write_cached("dump_1", 1)
        said = subprocess.run([job.forebay, "aggregator", "--encrypt", "--munge", "--store", job.store, "--rendezvous",
                               job.rendezvous], capture_output=True, text=True, timeout=60)  # fmt: skip
        assert said.returncode == 2 and "neither --munge nor --fabric ucx" in said.stderr, said
        said = subprocess.run([job.forebay, "status", "--munge", "--rendezvous", job.rendezvous], capture_output=True, text=True,
                              timeout=60)  # fmt: skip
        assert said.returncode != 0 and "which --munge does without" in said.stderr, said
    with new_job("none", nodes=1, spares=0, ranks=1) as job:
        job.start()
        said = subprocess.run([job.forebay, "agent", "--encrypt", "--stage", job.directory / "late", "--rendezvous",
                               job.rendezvous], capture_output=True, text=True, timeout=60)  # fmt: skip
        assert said.returncode == 2 and "has joined the job and does not" in said.stderr, said
