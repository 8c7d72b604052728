#!/usr/bin/env python3
"""The units for systemd: systemd finds nothing wrong with them, and what they start does what they are for.

Usage: units.py FOREBAY DIRECTORY, which has the units.
"""

import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

UNITS = Path(sys.argv.pop(2))

from support import COMMAND, StoreTest, environment, main, make_tree  # noqa: E402

PATIENCE = 30  # seconds


class Units(StoreTest):
    def unit(self, name):
        """The text of the unit, with this build's command."""
        text, count = re.subn(r"(?m)^(ExecStart=)\S+/forebay ", rf"\g<1>{COMMAND} ", (UNITS / name).read_text())
        self.assertEqual(1, count)
        return text

    def start(self, name, variables, specifiers):
        """What the unit starts, as systemd puts the words together."""
        command = re.search(r"(?m)^ExecStart=(.*)$", self.unit(name))[1]
        for letter, text in specifiers.items():
            command = command.replace("%" + letter, str(text))
        words = []
        for word in shlex.split(command):
            if match := re.fullmatch(r"\$(\w+)", word):
                words += shlex.split(variables.get(match[1], ""))
            else:
                words.append(re.sub(r"\$\{(\w+)\}", lambda found: variables[found[1]], word))
        started = subprocess.Popen(words, env=environment(), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(started.wait)
        self.addCleanup(started.kill)
        return started

    def until(self, holds):
        end = time.monotonic() + PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def stop(self, started):
        started.send_signal(signal.SIGTERM)
        self.assertEqual(0, started.wait(PATIENCE))

    def test_systemd_finds_nothing_wrong(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("there is no systemd-analyze")
        for name in ("forebay-lockd.service", "forebay-watch@.service"):
            (self.work / name).write_text(self.unit(name).replace("Documentation=man:forebay(1)\n", ""))
            for instance in (name, name.replace("@", "@one")) if "@" in name else (name,):
                done = subprocess.run(["systemd-analyze", "--user", "verify", self.work / instance], capture_output=True,
                                      text=True, timeout=60, env=environment(XDG_RUNTIME_DIR=str(self.work)))  # fmt: skip
                self.assertEqual((0, ""), (done.returncode, done.stderr))

    def test_lockd_is_reached_at_the_address_in_its_file(self):
        runtime = self.work / "runtime"
        (runtime / "forebay").mkdir(parents=True)
        text = self.unit("forebay-lockd.service")
        options = re.search(r'(?m)^Environment="LOCKD_OPTIONS=(.*)"$', text)[1].replace("%t", str(runtime))
        server = self.start("forebay-lockd.service", {"LOCKD_OPTIONS": options}, {"t": runtime})
        addresses = runtime / "forebay/lock-servers"
        self.until(addresses.exists)
        self.assertEqual(f"unix:{runtime}/forebay/locks", addresses.read_text().strip())
        self.run_ok("locks", addresses.read_text().strip())
        self.stop(server)

    def test_watch_stores_what_is_complete(self):
        watched = self.work / "ck"
        watched.mkdir()
        variables = {"DIR": str(watched), "STORE": str(self.store), "COMPLETE": "rename", "WATCH_OPTIONS": "--keep 2"}
        watch = self.start("forebay-watch@.service", variables, {"i": "one", "E": self.work})
        make_tree(self.work / "made")
        self.until(lambda: (watched / ".forebay/found").exists())  # what is there from now on is not from before
        (self.work / "made").rename(watched / "dump_0001")
        self.until(lambda: (self.store / "sets/dump_0001").exists())
        self.stop(watch)
        self.run_ok("verify", "--store", self.store)


main()
