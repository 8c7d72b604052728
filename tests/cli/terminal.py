#!/usr/bin/env python3
"""On a terminal there is a progress line, rewritten in place and gone at the end."""

import os
import pty
import subprocess
import unittest

from support import COMMAND, StoreTest, environment, main, npy_bytes


class Terminal(StoreTest):
    def run_on_terminal(self, *words):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=theirs, env=environment())
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 4096):
                shown += chunk
        except OSError:
            pass  # the other end is closed
        os.close(ours)
        out = process.communicate()[0].decode()
        self.assertEqual(0, process.returncode)
        return shown.decode(), out

    def test_progress(self):
        for rank in range(4):
            values = [float(hash((rank, i)) % 1000003) for i in range(250_000)]
            (self.tree / f"dump.cpu{rank:04}.npy").write_bytes(npy_bytes(values, (250_000,)))
        shown, out = self.run_on_terminal("pack", self.tree, "--store", self.store, "--profile", "max", "--threads", "1")
        self.assertTrue(out.startswith("packed DD0008"))
        if not shown:
            raise unittest.SkipTest("too fast for a progress line")
        self.assertTrue(shown.startswith("\r\x1b[Kpacking: "), repr(shown))
        self.assertTrue(shown.endswith("\r\x1b[K"), repr(shown))
        self.assertNotIn("\n", shown)
        self.assertIn(" MB/s", shown)


if __name__ == "__main__":
    main()
