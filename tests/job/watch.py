#!/usr/bin/env python3
"""forebay watch: one process for a program that knows nothing of Forebay."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

from job_support import JobTest, main, make_tree, snapshot, wait_until


class Watch(JobTest):
    def make_sets(self, names):
        for i, name in enumerate(names):
            make_tree(self.copies / name, shift=float(i))
            self.stage.mkdir(exist_ok=True)
            shutil.copytree(self.copies / name, self.stage / name, symlinks=True)

    def compare(self, names):
        for name in names:
            self.run_ok("restore", name, "--store", self.store, "--to", self.work / "restored" / name)
            self.assertEqual(snapshot(self.copies / name), snapshot(self.work / "restored" / name))

    def test_once_drains_all_that_is_there(self):
        self.make_sets(["d1", "d2", "d3"])
        answer = self.start("watch", self.stage, "--store", self.store, "--complete", "rename", "--once", "--keep", 0)
        out, err = answer.communicate(timeout=60)
        self.assertEqual(0, answer.returncode, err)
        self.assertIn("3 sets durable, 0 skipped, 0 failed", out)
        self.compare(["d1", "d2", "d3"])
        self.assertEqual([".forebay"], os.listdir(self.stage))

    def test_the_store_keeps_the_newest(self):
        self.make_sets(["d1", "d2", "d3"])
        answer = self.start("watch", self.stage, "--store", self.store, "--complete", "rename", "--once", "--keep-last", 2)
        out, err = answer.communicate(timeout=60)
        self.assertEqual(0, answer.returncode, err)
        self.assertEqual(["d2", "d3"], sorted(os.listdir(self.store / "sets")))
        self.assertEqual(["d1", "d2", "d3"], sorted(set(os.listdir(self.stage)) - {".forebay"}))
        self.compare(["d2", "d3"])

    def test_real_checkpoints(self):
        source = Path(__file__).resolve().parents[2]
        data = Path(os.environ.get("FOREBAY_DATA", source.parent / "shared" / "data"))
        archives = sorted(data.glob("*.tar.zst"), key=lambda path: path.stat().st_size)
        if not archives:
            self.skipTest("no archives of real checkpoints in $FOREBAY_DATA or ../shared/data")
        unpacked = self.work / "unpacked"
        unpacked.mkdir()
        subprocess.run(["tar", "--zstd", "-xf", archives[0], "-C", unpacked], check=True)
        (real,) = unpacked.glob("*/*")
        self.stage.mkdir()
        shutil.copytree(real, self.copies / "real", symlinks=True)
        shutil.copytree(real, self.stage / "real", symlinks=True)
        answer = self.start("watch", self.stage, "--store", self.store, "--complete", "rename", "--once")
        out, err = answer.communicate(timeout=120)
        self.assertEqual(0, answer.returncode, err)
        self.compare(["real"])

    def test_drains_what_comes_until_it_is_told_to_end(self):
        self.stage.mkdir()
        watch = self.start_daemon("watch", self.stage, "--store", self.store, "--complete", "marker:{set}.done")
        make_tree(self.copies / "d7")
        shutil.copytree(self.copies / "d7", self.stage / "d7", symlinks=True)
        self.assertFalse((self.store / "sets/d7").exists())
        (self.stage / "d7.done").touch()
        wait_until((self.store / "sets/d7").exists)
        watch.send_signal(signal.SIGTERM)
        self.assertEqual(0, watch.wait(30))
        self.compare(["d7"])

    def test_settled_with_once_waits_for_quiet(self):
        self.stage.mkdir()
        for rank in range(2):
            (self.copies / "d1").mkdir(exist_ok=True)
            (self.copies / f"d1/a.rank{rank}.npy").write_bytes(next(iter((self.work / "DD0008").glob("*.npy"))).read_bytes())
        shutil.copytree(self.copies / "d1", self.stage / "d1")
        answer = self.start("watch", self.stage, "--store", self.store, "--complete", "settled:2:1", "--once")
        _, err = answer.communicate(timeout=60)
        self.assertEqual(0, answer.returncode, err)
        self.compare(["d1"])


if __name__ == "__main__":
    main()
