#!/usr/bin/env python3
"""Promise: sources that change while they are packed give a clean error or a consistent set, and are left alone.

Usage: changing_sources.py FOREBAY
"""

import os
import subprocess
import threading
import time

from promise import CHANGED, NOT_FOUND, OK, PromiseTest, digest, forebay, main


class ChangingSources(PromiseTest):
    def setUp(self):
        super().setUp()
        self.tree = self.work / "tree"
        self.tree.mkdir()
        block = os.urandom(1 << 20)
        for rank in range(4):
            with open(self.tree / f"dump.{rank}", "wb") as file:
                for i in range(40):
                    file.write(block[i:] + block[:i])

    def pack_during(self, change, delay):
        thread = threading.Thread(target=lambda: (time.sleep(delay), change()))
        thread.start()
        answer = forebay("pack", self.tree, "--store", self.store, "--name", "set", "--profile", "fast")
        thread.join()
        return answer

    def check(self, change, undo):
        """Makes the change at different moments of a pack. What is committed is what was there before it or after."""
        outcomes, path = [], self.tree / "dump.2"
        for delay in 0.0, 0.02, 0.05, 0.1, 0.2, 0.4:
            states = {digest(path)}
            answer = self.pack_during(change, delay)
            states.add(digest(path) if path.exists() else None)
            outcomes.append(answer.code)
            if answer.code == OK:
                self.ok("verify", self.store, "set")
                target = self.work / "restored"
                self.ok("restore", "set", "--store", self.store, "--to", target)
                restored = target / "dump.2"
                self.assertIn(digest(restored) if restored.exists() else None, states)
                subprocess.run(["rm", "-rf", target], check=True)
            else:
                self.assertIn(answer.code, (CHANGED, NOT_FOUND), answer.err)
                self.assertIn("dump.2", answer.err)
                self.assertEqual([], [p for p in (self.store / "sets").iterdir()] if (self.store / "sets").exists() else [])
            subprocess.run(["rm", "-rf", self.store], check=True)
            undo()
        print(self.id().split(".")[-1], outcomes, flush=True)

    def test_growing(self):
        path = self.tree / "dump.2"
        size = path.stat().st_size

        def grow():
            with open(path, "ab") as file:
                file.write(b"more" * 1000)

        self.check(grow, lambda: os.truncate(path, size))

    def test_truncated(self):
        path = self.tree / "dump.2"
        content = path.read_bytes()
        self.check(lambda: os.truncate(path, 1000), lambda: path.write_bytes(content))

    def test_vanishing(self):
        path, aside = self.tree / "dump.2", self.work / "aside"
        self.check(lambda: path.rename(aside), lambda: aside.exists() and aside.rename(path))

    def test_replaced(self):
        path, aside = self.tree / "dump.2", self.work / "aside"

        def replace():
            aside.write_bytes(b"another file" * 1000)
            aside.rename(path)

        self.check(replace, lambda: None)

    def test_unreadable(self):
        if os.geteuid() == 0:
            self.skipTest("root may read anything")
        (self.tree / "dump.2").chmod(0)
        answer = forebay("pack", self.tree, "--store", self.store, "--name", "set")
        self.assertNotEqual(OK, answer.code)
        self.assertIn("dump.2", answer.err)


if __name__ == "__main__":
    main()
