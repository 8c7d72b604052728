#!/usr/bin/env python3
"""Runs a program that uses SCR's interface (program.c) with files straight in the prefix and through the caches.

Usage: programs.py PROGRAM FOREBAY MPIEXEC [OPTION...]
"""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM, FOREBAY, LAUNCHER = "", "", []
SECONDS = 60


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    times = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


class Case(unittest.TestCase):
    keys, ranks = {}, 2

    def setUp(self):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.top = Path(tempfile.mkdtemp(prefix="forebay-scr-", dir=base))
        self.prefix = self.top / "prefix"
        (self.top / "cache").mkdir()
        self.prefix.mkdir()

    def tearDown(self):
        self.stop_daemons()
        shutil.rmtree(self.top)

    def environment(self, keys):
        return os.environ | {"SCR_PREFIX": str(self.prefix), "SCR_CACHE_BASE": str(self.top / "cache"), "FOREBAY_COMMAND": FOREBAY,
                             **self.keys, **keys}  # fmt: skip

    def stop_daemons(self):
        for rendezvous in self.prefix.glob(".scr/jobs/*"):
            subprocess.run([FOREBAY, "stop", "--rendezvous", rendezvous], capture_output=True, timeout=SECONDS, check=False)

    def lose_caches(self):
        self.stop_daemons()
        shutil.rmtree(self.top / "cache")

    def run_program(self, *arguments, **keys):
        """What the program printed, a line each, and its exit code as the last."""
        done = subprocess.run([*LAUNCHER, "-n", str(self.ranks), PROGRAM, *arguments], env=self.environment(keys), cwd=self.prefix, text=True,
                              capture_output=True, timeout=SECONDS, check=False)  # fmt: skip
        self.messages = done.stderr
        words = ("restarted", "completed", "not completed", "passed over", "dies in", "exits", "no need", "failed", "rank ", "has", "stays", "reads")
        return [line for line in done.stdout.splitlines() if line.startswith(words)] + [done.returncode]

    def check(self, arguments, *expected, code=0, **keys):
        printed = self.run_program(*arguments.split(), **keys)
        self.assertEqual(printed[:-1], list(expected), self.messages)
        if code is not None:
            self.assertEqual(printed[-1], code, self.messages)

    def stored(self):
        listed = subprocess.run([FOREBAY, "ls", self.prefix / ".scr/store", "--json"], capture_output=True, check=True, timeout=SECONDS)
        return {entry["name"] for entry in json.loads(listed.stdout)["sets"]}

    def scr(self, *words):
        done = subprocess.run([FOREBAY, "scr", *words], env=os.environ | {"SCR_PREFIX": str(self.prefix), **self.keys}, cwd=self.prefix,
                              text=True, capture_output=True, timeout=SECONDS, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def index(self, *words):
        return {entry["name"]: entry for entry in json.loads(self.scr("index", "--json", *words))["sets"]}


def killed(test, arguments, wait, **keys):
    """Starts the program, and kills it and its launcher as soon as `wait` is true while it computes."""
    environment = test.environment(keys)
    log = test.top / "killed.log"
    with open(log, "w") as out:
        run = subprocess.Popen([*LAUNCHER, "-n", str(test.ranks), PROGRAM, *arguments.split(), "--stay", "1"], env=environment,
                               cwd=test.prefix, stdout=out, stderr=out, start_new_session=True)  # fmt: skip
    try:
        end = time.monotonic() + SECONDS
        while not ("stays" in log.read_text() and wait()):
            test.assertIsNone(run.poll(), log.read_text())
            test.assertLess(time.monotonic(), end, log.read_text())
            time.sleep(0.05)
    finally:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()


class Straight(Case):
    """SCR_CACHE_BYPASS=1: files under their own names in the prefix."""

    def test_restarts_from_the_newest_whole_set(self):
        self.check("--sets 3", "restarted nothing", "completed ckpt.1", "completed ckpt.2", "completed ckpt.3")
        self.assertTrue((self.prefix / "ckpt.3/part_0/rank_1.ckpt").exists())
        flip(self.prefix / "ckpt.3/part_0/rank_1.ckpt")
        self.check("--sets 1", "restarted ckpt.2", "completed ckpt.3")
        self.assertIn("ckpt.3 is passed over", self.messages)
        self.check("--sets 3 --die-in 5", "restarted ckpt.3", "completed ckpt.4", "dies in ckpt.5", code=None)
        self.check("--sets 0 --restart-fails ckpt.4", "passed over ckpt.4", "restarted ckpt.3")
        self.check("--sets 0", "restarted ckpt.3")

    def test_current_invalid_and_delete(self):
        self.check("--sets 3 --invalid 2", "restarted nothing", "completed ckpt.1", "not completed ckpt.2", "completed ckpt.3")
        self.check("--sets 1 --current ckpt.1", "restarted ckpt.1", "completed ckpt.2")
        self.check("--sets 0", "restarted ckpt.2")
        self.check("--sets 0 --delete ckpt.2", "restarted ckpt.3")
        self.assertFalse((self.prefix / "ckpt.2").exists())

    def test_old_calls_and_names_that_are_made(self):
        self.check("--sets 2 --old --names flat", "restarted nothing", "completed scr.dataset.1", "completed scr.dataset.2")
        self.check("--sets 1 --null --names flat", "restarted scr.dataset.2", "completed scr.dataset.3")

    def test_interval_and_halt(self):
        self.check("--sets 4", "restarted nothing", "no need of ckpt.1", "completed ckpt.2", "no need of ckpt.3", "completed ckpt.4",
                   SCR_CHECKPOINT_INTERVAL="2")  # fmt: skip
        (self.prefix / ".scr/halt.json").write_text('{"checkpoints": 1}')
        self.check("--sets 4", "restarted ckpt.4", "completed ckpt.5", "exits after ckpt.5")

    def test_checkpoints_by_seconds(self):
        lines = self.run_program("--sets", "8", "--work", "300", SCR_CHECKPOINT_SECONDS="1")[1:-1]
        completed = [number for number, line in enumerate(lines) if line.startswith("completed")]
        self.assertTrue(1 <= len(completed) <= 3 and len(lines) == 8, lines)
        self.assertTrue(all(later - earlier >= 3 for earlier, later in zip(completed, completed[1:])), lines)

    def test_checkpoints_by_overhead(self):
        lines = self.run_program("--sets", "6", "--work", "50", SCR_CHECKPOINT_OVERHEAD="1")[1:-1]
        self.assertEqual("completed ckpt.1", lines[0])
        self.assertIn("no need of ckpt.2", lines)
        self.assertEqual(6, len([line for line in self.run_program("--sets", "6", SCR_CHECKPOINT_OVERHEAD="100")
                                 if str(line).startswith("completed")]))  # fmt: skip

    def test_the_end_of_the_allocation(self):
        end = int(time.time()) + 1000
        self.check("--sets 2", "restarted nothing", "completed ckpt.1", "completed ckpt.2", SCR_HALT_SECONDS="10", SCR_END_TIME=str(end))
        self.check("--sets 2", "restarted ckpt.2", "completed ckpt.3", "exits after ckpt.3", SCR_HALT_SECONDS="2000", SCR_END_TIME=str(end))

    def test_which_set_is_fetched(self):
        self.check("--sets 3", "restarted nothing", "completed ckpt.1", "completed ckpt.2", "completed ckpt.3")
        self.check("--sets 0", "restarted ckpt.2", SCR_CURRENT="ckpt.2")
        self.check("--sets 0", "restarted nothing", SCR_FETCH="0")

    def test_the_index_and_the_halt_command(self):
        self.check("--sets 3", "restarted nothing", "completed ckpt.1", "completed ckpt.2", "completed ckpt.3")
        self.assertTrue(self.index()["ckpt.3"]["is_current"])
        self.scr("index", "--current", "ckpt.2")
        self.check("--sets 0", "restarted ckpt.2")
        self.assertNotIn("ckpt.3", self.index("--drop", "ckpt.3"))
        self.assertTrue(self.index("--add", "ckpt.3")["ckpt.3"]["valid"])
        flip(self.prefix / "ckpt.1/part_0/rank_1.ckpt")
        self.assertEqual({name: entry["valid"] for name, entry in self.index("--build", "all").items()},
                         {"ckpt.1": False, "ckpt.2": True, "ckpt.3": True})  # fmt: skip
        self.scr("halt")
        self.assertIn("1 more checkpoint", self.scr("halt", "--list"))
        self.scr("halt", "--unset", "reason")
        self.assertIn("no halt condition", self.scr("halt", "--list"))
        self.scr("halt")
        self.check("--sets 4", "restarted ckpt.2", "completed ckpt.3", "exits after ckpt.3")
        self.scr("halt", "--remove")
        self.scr("halt", "--checkpoints", "1", str(self.prefix))
        self.assertIn("1 more checkpoint", self.scr("halt", "--list", str(self.prefix)))
        self.check("--sets 4", "restarted ckpt.3", "completed ckpt.4", "exits after ckpt.4")

    def test_old_checkpoints_leave_the_prefix(self):
        self.check("--sets 4", "restarted nothing", *(f"completed ckpt.{number}" for number in (1, 2, 3, 4)), SCR_PREFIX_SIZE="2")
        self.assertEqual({path.name for path in self.prefix.glob("ckpt.*")}, {"ckpt.3", "ckpt.4"})
        self.check("--sets 1", "restarted nothing", "completed ckpt.1", SCR_PREFIX_PURGE="1")
        self.assertEqual({path.name for path in self.prefix.glob("ckpt.*")}, {"ckpt.1"})

    def test_the_library_ends_the_program(self):
        (self.prefix / ".scr").mkdir(mode=0o700)
        (self.prefix / ".scr/halt.json").write_text('{"checkpoints": 2}')
        self.check("--sets 9", "restarted nothing", "completed ckpt.1", SCR_HALT_EXIT="1", code=None)
        self.assertIn("SCR: ends the job: ", self.messages)
        self.assertIn("ckpt.2", self.index())
        self.check("--sets 9", SCR_HALT_EXIT="1", code=None)  # Open MPI's launcher wants MPI_Finalize, which SCR does not call
        self.assertIn("SCR: ends the job: ", self.messages)
        self.assertNotIn("a call within a call", self.messages)

    def test_a_restart_after_an_output(self):
        self.check("--sets 2 --ask 1", "restarted nothing", "completed ckpt.1", "has ckpt.1", "completed ckpt.2", "has ckpt.2")

    def test_names_that_are_as_long_as_they_may_be(self):
        pad = "x" * 1017
        self.check(f"--sets 2 --pad {pad}", "restarted nothing", f"completed {pad}ckpt.1", f"completed {pad}ckpt.2")
        self.check(f"--sets 0 --pad {pad}", f"restarted {pad}ckpt.2")
        self.assertTrue(all(entry["valid"] for entry in self.index("--build", "all").values()))
        self.assertEqual(set(self.index()), {f"{pad}ckpt.1", f"{pad}ckpt.2"})

    def test_a_file_of_all_ranks(self):
        """Each byte is read once, by one rank; wherever it was damaged, another set is taken."""
        size = "3000000"
        self.check(f"--sets 2 --shared 1 --bytes {size} --count 1", "restarted nothing", "completed ckpt.1", "reads 1.0 times",
                   "completed ckpt.2", "reads 1.0 times")  # fmt: skip
        self.check(f"--sets 0 --shared 1 --bytes {size} --count 1", "reads 1.0 times", "restarted ckpt.2")
        self.assertTrue(self.index("--build", "all")["ckpt.2"]["valid"])
        flip(self.prefix / "ckpt.2/all.ckpt")
        self.check(f"--sets 0 --shared 1 --bytes {size}", "restarted ckpt.1")
        self.assertIn("ckpt.2 is passed over", self.messages)

    def test_keys_of_scr_are_known(self):
        keys = ("SCR_MPI_BUF_SIZE", "SCR_FILE_BUF_SIZE", "SCR_LOG_SYSLOG_ENABLE", "SCR_FLUSH_POSTSTAGE", "SCR_CRC_ON_FLUSH")
        (self.prefix / ".scrconf").write_text("".join(f"{key}=1\n" for key in keys))
        self.check("--sets 0", "restarted nothing")
        self.assertEqual(self.messages, "")

    def test_another_number_of_ranks(self):
        self.check("--sets 1", "restarted nothing", "completed ckpt.1")
        self.ranks = 1
        self.check("--sets 0", "restarted nothing")
        self.check("--sets 0", "restarted ckpt.1", SCR_GLOBAL_RESTART="1")

    def test_a_wrong_value_is_named_with_its_line(self):
        (self.prefix / ".scrconf").write_text("# keys\nSCR_FLUSH=often\n")
        self.run_program("--sets", "1")
        self.assertIn(f"{self.prefix}/.scrconf:2: SCR_FLUSH=often", self.messages)

    def test_switched_off(self):
        self.check("--sets 1", "restarted nothing", "completed ckpt.1", SCR_ENABLE="0", code=None)
        self.assertFalse((self.prefix / ".scr").exists())


class Cached(Case):
    """SCR_CACHE_BYPASS=0."""

    keys = {"SCR_CACHE_BYPASS": "0", "SCR_FLUSH": "3", "SCR_COPY_TYPE": "SINGLE", "SCR_CACHE_SIZE": "2"}

    def test_restarts_after_a_crash_and_flushes(self):
        self.check("--sets 6 --die-in 5", "restarted nothing", "completed ckpt.1", "completed ckpt.2", "completed ckpt.3",
                   "completed ckpt.4", "dies in ckpt.5", code=None)  # fmt: skip
        self.check("--sets 1", "restarted ckpt.4", "completed ckpt.5")
        self.assertLessEqual({"ckpt.3", "ckpt.5"}, self.stored())
        self.assertEqual({name for name, entry in self.index().items() if entry["flushed"]}, self.stored())
        self.check("--sets 0 --restart-fails ckpt.5", "passed over ckpt.5", "restarted ckpt.4")

    def test_a_set_that_is_not_valid_leaves_nothing(self):
        shutil.rmtree(self.top / "cache")  # SCR_CACHE_BASE is made
        self.check("--sets 3 --invalid 2", "restarted nothing", "completed ckpt.1", "not completed ckpt.2", "completed ckpt.3")
        cached = next((self.top / "cache").glob("forebay-*/scr.*"))
        self.assertFalse((cached / "ckpt.2").exists())
        self.check("--sets 0", "restarted ckpt.3")

    def test_a_restart_after_an_output(self):
        self.check("--sets 2 --ask 1", "restarted nothing", "completed ckpt.1", "has ckpt.1", "completed ckpt.2", "has ckpt.2")

    def test_a_start_right_after_a_stop(self):
        """When the command has ended no daemon is there any more that the next program could take for a living one."""
        killed(self, "--sets 1", lambda: True, SCR_FLUSH="0")
        for _ in range(5):
            socket = next((self.top / "cache").glob("forebay-*/scr.*/*/agent.sock"))
            self.stop_daemons()
            self.assertFalse(socket.exists())
            self.assertFalse(list(self.prefix.glob(".scr/jobs/*")))
            killed(self, "--sets 0", lambda: True, SCR_FLUSH="0")
        self.assertIn("restarted ckpt.1", (self.top / "killed.log").read_text())

    def test_what_was_deleted_or_dropped_stays_so(self):
        self.check("--sets 4", "restarted nothing", *(f"completed ckpt.{number}" for number in range(1, 5)), SCR_FLUSH="1")
        self.check("--sets 0 --delete ckpt.4", "restarted ckpt.3")
        self.assertNotIn("ckpt.4", self.stored())
        self.lose_caches()
        self.check("--sets 0", "restarted ckpt.3")
        self.assertNotIn("ckpt.3", self.index("--drop", "ckpt.3"))
        self.lose_caches()
        self.check("--sets 0", "restarted ckpt.2")
        self.assertIn("ckpt.3", self.index("--add", "ckpt.3"))
        self.lose_caches()
        self.check("--sets 0", "restarted ckpt.3")
        self.lose_caches()
        self.check("--sets 0 --drop ckpt.3", "restarted ckpt.2")
        self.lose_caches()
        self.check("--sets 0", "restarted nothing", SCR_PREFIX_PURGE="1")
        self.assertEqual(self.stored(), set())

    def test_the_newest_set_is_deleted_before_the_end(self):
        for flush in ({"SCR_FLUSH": "3"}, {"SCR_FLUSH": "1"}, {"SCR_FLUSH": "3", "FOREBAY_SCR_FLUSH_KIND": "files"}):
            self.check("--sets 2 --delete-last 1", "restarted nothing", "completed ckpt.1", "completed ckpt.2", **flush)
            self.assertNotIn("ckpt.2", self.stored() if "FOREBAY_SCR_FLUSH_KIND" not in flush else ())
            self.check("--sets 0 --delete ckpt.1", "restarted nothing", **flush)
            self.assertEqual(list((self.top / "cache").glob("forebay-*/scr.*/.forebay/quarantine/*")), [])

    def test_a_node_that_was_away_brings_no_deleted_set_back(self):
        keys = {"SCR_FLUSH": "0"}
        self.check("--sets 2", "restarted nothing", "completed ckpt.1", "completed ckpt.2", **keys)
        self.stop_daemons()
        shutil.copytree(self.top / "cache", self.top / "away", symlinks=True)
        self.check("--sets 0 --delete ckpt.2", "restarted ckpt.1", **keys)
        self.lose_caches()
        (self.top / "away").rename(self.top / "cache")
        self.check("--sets 0", "restarted ckpt.1", **keys)
        self.check("--sets 1", "restarted ckpt.1", "completed ckpt.2", **keys)
        self.check("--sets 0", "restarted ckpt.2", **keys)

    def test_long_names(self):
        pad = "x" * 1017
        self.check(f"--sets 1 --pad {pad}", "restarted nothing", f"completed {pad}ckpt.1", SCR_FLUSH="1")
        self.assertTrue(self.index()[f"{pad}ckpt.1"]["flushed"])
        self.lose_caches()
        self.check(f"--sets 0 --pad {pad}", f"restarted {pad}ckpt.1")

    def test_all_that_is_due_is_stored_in_order(self):
        """Also where the file system is slower than the program."""
        slow = self.top / "slow"
        slow.write_text(f'#!/bin/sh\nif [ "$1" = aggregator ]; then exec {FOREBAY} "$@" --pfs-limit 40K; fi\nexec {FOREBAY} "$@"\n')
        slow.chmod(0o755)
        self.check("--sets 6", "restarted nothing", *(f"completed ckpt.{number}" for number in range(1, 7)), SCR_FLUSH="1",
                   SCR_CACHE_SIZE="4", FOREBAY_COMMAND=str(slow))  # fmt: skip
        listed = subprocess.run([FOREBAY, "ls", self.prefix / ".scr/store", "--json"], capture_output=True, check=True, timeout=SECONDS)
        sets = sorted(json.loads(listed.stdout)["sets"], key=lambda entry: entry["ordinal"])
        self.assertEqual([entry["name"] for entry in sets], [f"ckpt.{number}" for number in range(1, 7)])

    def test_outputs_reach_the_prefix(self):
        for asynchronous in ("0", "1"):
            self.check("--sets 1 --flags both", *(["restarted nothing", "completed ckpt.1"] if asynchronous == "0" else
                                                  ["restarted ckpt.1", "completed ckpt.2"]), SCR_FLUSH_ASYNC=asynchronous)  # fmt: skip
        for number in (1, 2):
            self.assertTrue((self.prefix / f"ckpt.{number}/part_0/rank_1.ckpt").exists())
        shutil.rmtree(self.top / "cache")
        (self.top / "cache").mkdir()
        self.check("--sets 0", "restarted ckpt.2")

    def test_a_flush_beside_the_program_is_known_when_it_is_there(self):
        keys = {"SCR_FLUSH_ASYNC": "1", "SCR_FLUSH": "0"}
        killed(self, "--sets 2 --flags both", lambda: self.index().get("ckpt.2", {}).get("place") == "prefix", **keys)
        self.lose_caches()
        self.check("--sets 0", "restarted ckpt.2", **keys)
        self.assertEqual([path.name for path in (self.prefix / ".scr/sets").iterdir() if path.is_dir()], [])

    def test_pure_outputs_are_no_restart(self):
        self.check("--sets 1 --flags output", "restarted nothing", "completed output.1")
        self.assertTrue((self.prefix / "output.1/part_1/rank_0.ckpt").exists())
        self.check("--sets 0", "restarted nothing")

    def cached(self, name):
        return [path.name for path in (self.top / "cache").glob(f"forebay-*/scr.*/{name}/*/part_0/*")]

    def test_pure_outputs_pass_through_the_caches(self):
        keys = {"SCR_FLUSH_ASYNC": "1"}
        is_there = lambda name: self.index().get(name, {}).get("place") == "prefix"
        killed(self, "--sets 1 --flags output", lambda: is_there("output.1") and len(self.cached("output.1")) == 2, **keys)
        self.check("--sets 0", "restarted nothing", **keys)
        self.assertTrue(is_there("output.1") and (self.prefix / "output.1/part_0/rank_1.ckpt").exists())
        for asynchronous in ("0", "1"):
            self.check("--sets 3 --flags output --delete-last 1", "restarted nothing",
                       *(f"completed output.{number}" for number in (1, 2, 3)), SCR_FLUSH_ASYNC=asynchronous)  # fmt: skip
            self.assertEqual({path.name for path in self.prefix.glob("output.*")}, {"output.1", "output.2"})
            self.assertEqual(self.cached("output.*"), [])
        (self.prefix / ".scrconf").write_text("CKPT=0 TYPE=SINGLE\nCKPT=1 TYPE=SINGLE OUTPUT=1 BYPASS=1\n")
        killed(self, "--sets 1 --flags output", lambda: is_there("output.1"), **keys)
        self.assertEqual(self.cached("output.*"), [])

    def test_pure_outputs_keep_no_checkpoint_from_the_caches(self):
        keys = {"SCR_FLUSH": "0", "SCR_CACHE_SIZE": "1"}
        self.check("--sets 1", "restarted nothing", "completed ckpt.1", **keys)
        self.check("--sets 3 --flags output", "restarted ckpt.1", *(f"completed output.{number}" for number in (2, 3, 4)), **keys)
        self.check("--sets 1 --flags output --invalid 2", "restarted ckpt.1", "not completed output.2", **keys)
        self.check("--sets 1", "restarted ckpt.1", "completed ckpt.2", **keys)

    def test_an_output_that_did_not_reach_the_prefix_is_said_to_be_lost(self):
        (self.prefix / "output.1").write_text("in its way")
        killed(self, "--sets 1 --flags output", lambda: self.index().get("output.1", {}).get("place") == "cache", SCR_FLUSH_ASYNC="1")
        self.check("--sets 0", "restarted nothing")
        self.assertIn("output.1 is lost", self.messages)
        self.assertNotIn("output.1", self.index())

    def test_checkpoints_are_flushed_as_files(self):
        keys = {"FOREBAY_SCR_FLUSH_KIND": "files", "SCR_FLUSH": "2"}
        self.check("--sets 3", "restarted nothing", *(f"completed ckpt.{number}" for number in (1, 2, 3)), **keys)
        self.assertEqual({path.name for path in self.prefix.glob("ckpt.*")}, {"ckpt.2", "ckpt.3"}, "the last one at the end")

    def test_some_checkpoints_go_by_the_caches(self):
        (self.prefix / ".scrconf").write_text("CKPT=0 INTERVAL=1 TYPE=SINGLE\nCKPT=1 INTERVAL=3 TYPE=SINGLE BYPASS=1\n")
        self.check("--sets 7 --die-in 7", "restarted nothing", *(f"completed ckpt.{number}" for number in range(1, 7)), "dies in ckpt.7",
                   code=None, SCR_FLUSH="100")  # fmt: skip
        self.assertEqual({path.name for path in self.prefix.glob("ckpt.*")}, {"ckpt.3", "ckpt.6"})
        self.check("--sets 0", "restarted ckpt.6", SCR_FLUSH="100")

    def test_how_many_sets_the_caches_keep(self):
        self.check("--sets 5 --die-in 5", "restarted nothing", *(f"completed ckpt.{number}" for number in range(1, 5)), "dies in ckpt.5",
                   code=None, SCR_FLUSH="100", SCR_CACHE_SIZE="1")  # fmt: skip
        cached = next((self.top / "cache").glob("forebay-*/scr.*"))
        self.assertLessEqual({path.name for path in cached.glob("ckpt.*")}, {"ckpt.4", "ckpt.5"})
        self.check("--sets 0", "restarted ckpt.4", SCR_FLUSH="100")

    def test_a_restart_flushes(self):
        self.check("--sets 2 --die-in 2", "restarted nothing", "completed ckpt.1", "dies in ckpt.2", code=None)
        self.assertFalse((self.prefix / "ckpt.1").exists())
        self.check("--sets 0", "restarted ckpt.1", SCR_FLUSH_ON_RESTART="1")
        self.assertTrue((self.prefix / "ckpt.1/part_0/rank_1.ckpt").exists())

    def test_sets_lie_on_two_levels(self):
        other = self.top / "ssd"
        other.mkdir()
        (self.prefix / ".scrconf").write_text(f"STORE={other} COUNT=2\nCKPT=0 INTERVAL=1 TYPE=SINGLE\n"
                                              f"CKPT=1 INTERVAL=3 TYPE=SINGLE STORE={other}\n")  # fmt: skip
        self.check("--sets 11 --die-in 10", "restarted nothing", *(f"completed ckpt.{number}" for number in range(1, 10)),
                   "dies in ckpt.10", code=None, SCR_FLUSH="100")  # fmt: skip
        level = next(other.glob("forebay-*/scr.*"))
        self.assertEqual({path.name.split(".")[1] for path in level.glob("ckpt.*")}, {"6", "9"})
        self.assertEqual(stat.S_IMODE(level.stat().st_mode), 0o700)
        self.check("--sets 1", "restarted ckpt.9", "completed ckpt.10", SCR_FLUSH="100")

    @unittest.skipUnless(os.geteuid() == 0, "needs another user's directory")
    def test_the_cache_of_another_user_is_left_alone(self):
        other = self.top / f"cache/forebay-{os.geteuid()}"
        other.mkdir(mode=0o777)
        os.chown(other, 65534, 65534)
        self.assertFalse([line for line in self.run_program("--sets", "1")[:-1] if line.startswith(("restarted", "completed"))])
        self.assertIn("the cache's directory belongs to another user", self.messages)
        self.assertEqual(list(other.iterdir()), [])


if __name__ == "__main__":
    PROGRAM, FOREBAY, *LAUNCHER = sys.argv[1:]
    unittest.main(argv=[sys.argv[0]], verbosity=2)
