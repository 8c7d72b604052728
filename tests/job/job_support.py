"""What the tests of running jobs share: an application that writes checkpoint sets, and a look at what became of them."""

import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from support import COMMAND, StoreTest, environment, forebay, main, make_tree, snapshot  # noqa: E402, F401

# Writes the sets s0, s1, ... of RANKS files each below the stage, by rename, with a copy below $COPIES; continues after the
# set that --restart names. --truncate S: after set S writes one that it cannot read, and kills itself. --crash S: kills itself after set S, once. --hang S, --spin S: likewise, does nothing any more, or
# nothing but compute.
APPLICATION = r"""
import os, shutil, signal, sys, time
words = sys.argv[1:]
def value(name, default=None):
    return words[words.index(name) + 1] if name in words else default
stage, copies, ranks = os.environ["FOREBAY_STAGE"], os.environ["COPIES"], 4
first = 0
if value("--restart"):
    with open(value("--restart") + "/state.rank0000") as file:
        first = int(file.readline()) + 1
with open(copies + "/starts", "a") as file:
    file.write(f"{first}\n")
for step in range(first, int(value("--sets", "3"))):
    part = f"{stage}/.s{step}.part"
    os.makedirs(part)
    for rank in range(ranks):
        with open(f"{part}/state.rank{rank:04}", "w") as file:
            file.write(f"{step}\n" + "".join(f"{rank} {step} {i}\n" for i in range(3000)))
    shutil.copytree(part, f"{copies}/s{step}")
    os.rename(part, f"{stage}/s{step}")
    time.sleep(float(value("--pause", "0.3")))
    if value("--truncate") == str(step) and first == 0:
        # A checkpoint that is complete for all that can be seen, and that the application cannot read.
        part = f"{stage}/.s{step + 1}.part"
        os.makedirs(part)
        for rank in range(ranks):
            with open(f"{part}/state.rank{rank:04}", "w") as file:
                file.write(value("--with", "x" * 40000) + "\n")
        os.rename(part, f"{stage}/s{step + 1}")
        time.sleep(1)
        os.kill(os.getpid(), signal.SIGKILL)
    if value("--crash") == str(step) and first == 0:
        time.sleep(1)
        os.kill(os.getpid(), signal.SIGKILL)
    while first == 0 and str(step) in (value("--hang"), value("--spin")):
        time.sleep(0.1 if value("--hang") else 0)
while "--wait" in words:
    time.sleep(0.1)
sys.exit(int(value("--exit", "0")))
"""


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.05)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class JobTest(StoreTest):
    def setUp(self):
        super().setUp()
        self.stage, self.copies = self.work / "stage", self.work / "copies"
        self.rendezvous = self.work / "rendezvous"
        self.copies.mkdir()
        (self.work / "restored").mkdir()
        self.application = self.work / "application.py"
        self.application.write_text(APPLICATION)

    def env(self):
        return {"COPIES": str(self.copies), "FOREBAY_STAGE": str(self.stage)}

    def start(self, *words):
        """A process that ends with the test."""
        process = subprocess.Popen(
            [COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.work,
            env=environment(**self.env()))  # fmt: skip
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def start_daemon(self, *words):
        process = self.start(*words)
        self.assertTrue(process.stdout.readline(), "no line that says it is ready")
        return process

    def start_agent(self, *words):
        return self.start_daemon("agent", "--stage", self.stage, "--rendezvous", self.rendezvous, "--complete", "rename", *words)

    def start_aggregator(self, *words):
        return self.start_daemon("aggregator", "--store", self.store, "--rendezvous", self.rendezvous, "--agents", 1, *words)

    def run_application(self, *words):
        subprocess.run([sys.executable, self.application, *map(str, words)], env=environment(**self.env()), check=True, timeout=60)

    def sets(self):
        """By name, those of the store, each restored and compared with what the application wrote."""
        answer = forebay("ls", self.store, "--json")
        names = [one["name"] for one in answer.json["sets"]] if answer.code == 0 else []
        for name in names:
            target = self.work / "restored" / name
            if not target.exists():
                self.run_ok("restore", name, "--store", self.store, "--to", target)
            self.assertEqual(snapshot(self.copies / name), snapshot(target), name)
        return names

    def status(self):
        answer = forebay("status", "--rendezvous", self.rendezvous, "--json")
        return answer.json if answer.code == 0 else {}

    def processes(self):
        """Of this test, by its directory in their command lines."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(self.work).encode() in words and is_alive(entry.name):
                found.append((int(entry.name), words.split(b"\0")[1].decode()))
        return found
