#!/usr/bin/env python3
"""lockd and locks: start, ask, detach, end."""

import os
import signal
import subprocess
import time

from support import COMMAND, FAILED, OK, StoreTest, environment, forebay, main


class Lockd(StoreTest):
    def start(self, *words):
        command = [COMMAND, "lockd", *map(str, words)]
        server = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), cwd=self.work, text=True
        )
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        return server, server.stdout.readline().strip()

    def test_serves_until_it_is_told_to_end(self):
        secret, file = self.work / "secret", self.work / "address"
        server, address = self.start("--new-secret", "--secret", secret, "--address-file", file)
        self.assertEqual(address + "\n", file.read_text())
        self.assertEqual(0o600, secret.stat().st_mode & 0o777)
        self.assertRegex(address, r"unix:@forebay-lockd-\d+-[0-9a-f]{16}\b")
        self.assertIn("tcp:", address)
        answer = forebay("locks", address, "--secret", secret, "--json")
        self.assertEqual(OK, answer.code, answer.err)
        (one,) = answer.json["servers"]
        self.assertEqual([], one["locks"])
        self.assertEqual(["forebay locks"], [client["label"] for client in one["clients"]])
        env = {"FOREBAY_LOCK_SERVERS": address, "FOREBAY_LOCK_SECRET": str(secret)}
        self.assertEqual("0 locks held, 0 waiting, 0 clients\n", forebay("locks", env=env).out)
        server.send_signal(signal.SIGTERM)
        self.assertEqual(0, server.wait(20))
        self.assertFalse(file.exists())
        self.assertEqual(FAILED, forebay("locks", env=env).code)

    def test_refuses_strangers_and_logs_them(self):
        log = self.work / "log"
        self.start("--new-secret", "--secret", self.work / "secret", "--listen", "unix:socket", "--log", log)
        answer = forebay("locks", "unix:socket", cwd=self.work)
        self.assertEqual(FAILED, answer.code)
        self.assertIn("refuses", answer.err)
        self.assertIn("refused unix: process", log.read_text())

    def test_detaches(self):
        # A pipe that the server kept open would hold its reader up.
        begin = time.monotonic()
        answer = forebay("lockd", "--listen", "unix:socket", "--background", cwd=self.work)
        self.assertEqual(OK, answer.code, answer.err)
        self.assertLess(time.monotonic() - begin, 20)
        address, process = answer.out.splitlines()
        self.assertEqual("unix:socket", address)
        number = int(process.split()[1])
        self.addCleanup(lambda: os.kill(number, signal.SIGKILL) if os.path.exists(f"/proc/{number}/fd") else None)
        self.assertEqual(OK, forebay("locks", address, cwd=self.work).code)
        again = forebay("lockd", "--listen", "unix:socket", "--background", cwd=self.work)
        self.assertNotEqual(OK, again.code)
        self.assertIn("somebody listens there already", again.err)
        os.kill(number, signal.SIGTERM)
        for _ in range(200):
            if not (self.work / "socket").exists():
                break
            time.sleep(0.05)
        self.assertFalse((self.work / "socket").exists())


if __name__ == "__main__":
    main()
