"""Mounts stores, and compares what is seen there with what was packed."""

import contextlib
import errno
import filecmp
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from support import COMMAND, environment, forebay, make_tree  # noqa: E402

PATIENCE = 20  # seconds
DATA = Path(__file__).resolve().parent.parent.parent.parent / "shared" / "data"


def can_mount():
    return os.access("/dev/fuse", os.R_OK | os.W_OK) and shutil.which("fusermount3")


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {PATIENCE} s")
        time.sleep(0.01)


class Mounted:
    """A mount of a store for as long as a with-block runs."""

    def __init__(self, test, store, *options, descriptors=None):
        self.at, self.log = test.root / "mnt", test.root / "mount.log"
        self.at.mkdir(exist_ok=True)
        command = [COMMAND, "mount", str(store), str(self.at), "--log", str(self.log), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(),
                                        preexec_fn=descriptors and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors,) * 2)))  # fmt: skip

    def __enter__(self):
        self.line = self.process.stdout.readline().decode()
        if "is mounted on" not in self.line:
            self.process.wait(PATIENCE)
            raise AssertionError(self.line + self.process.stdout.read().decode())
        return self

    def unmount(self):
        subprocess.run(["fusermount3", "-u", "-z", str(self.at)], capture_output=True, timeout=PATIENCE)

    def __exit__(self, *_):
        self.unmount()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(PATIENCE)
            raise
        finally:
            self.process.stdout.close()


def same(a, b):
    """Whether two trees have the same names, links and bytes."""
    names = [sorted(p.relative_to(root) for p in root.rglob("*")) for root in (a, b)]
    if names[0] != names[1]:
        return False
    for name in names[0]:
        one, other = a / name, b / name
        if one.is_symlink() != other.is_symlink() or (one.is_symlink() and os.readlink(one) != os.readlink(other)):
            return False
        if one.is_file() and not one.is_symlink() and not filecmp.cmp(one, other, shallow=False):
            return False
    return True


class Files(unittest.TestCase):
    def setUp(self):
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.root = Path(tempfile.mkdtemp(prefix="forebay-mount-", dir=place))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.store, self.tree = self.root / "store", self.root / "tree"

    def pack(self, name, *options, tree=None):
        answer = forebay("pack", tree or self.tree, "--store", self.store, "--name", name, *options)
        self.assertEqual(answer.code, 0, answer.err)

    def make_tree(self):
        make_tree(self.tree, ranks=6)
        (self.tree / "deep" / "er").mkdir(parents=True)
        (self.tree / "deep" / "er" / "notes").write_bytes(b"abc" * 1000)
        (self.tree / "empty").write_bytes(b"")
        (self.tree / "link").symlink_to("deep/er/notes")

    def test_sets_of_every_profile_are_the_original_files(self):
        self.make_tree()
        for profile in ("none", "fast", "balanced", "max"):
            self.pack(profile, "--profile", profile)
        with Mounted(self, self.store) as mount:
            self.assertEqual({*os.listdir(mount.at)}, {"none", "fast", "balanced", "max", "latest"})
            for profile in ("none", "fast", "balanced", "max"):
                self.assertTrue(same(self.tree, mount.at / profile), profile)
            self.assertEqual(os.readlink(mount.at / "latest"), "max")
            original = (self.tree / "dump.cpu0003.npy").stat()
            shown = (mount.at / "latest" / "dump.cpu0003.npy").stat()
            self.assertEqual(original.st_mtime_ns, shown.st_mtime_ns)
            self.assertEqual(shown.st_mode & 0o222, 0)

    def test_says_how_it_ends_and_goes_on_in_the_background(self):
        self.make_tree()
        self.pack("set")
        at = self.root / "here it is"
        at.mkdir()
        with Mounted(self, self.store) as mount:
            self.assertIn("this is interrupted (Ctrl-C), or until `fusermount3 -u ", mount.line)
        answer = forebay("mount", self.store, at, "--background")
        self.addCleanup(subprocess.run, ["fusermount3", "-u", "-z", at], capture_output=True)
        self.assertEqual((answer.code, answer.err), (0, ""))
        mounted, served_by = answer.out.splitlines()
        self.assertIn(f"until `fusermount3 -u '{at}'`", mounted)
        self.assertNotIn("Ctrl-C", mounted)
        self.assertTrue(same(self.tree, at / "set"))
        subprocess.run(["fusermount3", "-u", at], check=True, timeout=PATIENCE)
        server = Path("/proc") / served_by.removeprefix("pid ") / "exe"
        wait_for("the end of the server", lambda: not server.exists())

    def test_any_range_of_a_file_is_what_it_was(self):
        self.make_tree()
        self.pack("set")
        chance = random.Random(3)
        with Mounted(self, self.store) as mount:
            content = (self.tree / "dump.cpu0001.npy").read_bytes()
            with open(mount.at / "set" / "dump.cpu0001.npy", "rb", buffering=0) as file:
                for _ in range(200):
                    begin, length = chance.randrange(len(content) + 10), chance.randrange(5000)
                    self.assertEqual(os.pread(file.fileno(), length, begin), content[begin : begin + length])

    def test_nothing_can_be_written(self):
        self.make_tree()
        self.pack("set")
        with Mounted(self, self.store) as mount:
            for attempt in (
                lambda: open(mount.at / "set" / "empty", "wb"),
                lambda: open(mount.at / "set" / "new", "wb"),
                lambda: os.unlink(mount.at / "set" / "empty"),
                lambda: os.mkdir(mount.at / "new"),
            ):
                with self.assertRaises(OSError) as caught:
                    attempt()
                self.assertEqual(caught.exception.errno, errno.EROFS)
            with self.assertRaises(FileNotFoundError):
                open(mount.at / "set" / "nothing", "rb")
            with self.assertRaises(FileNotFoundError):
                os.listdir(mount.at / "nothing")

    def test_damage_is_an_error_where_it_lies_and_nowhere_else(self):
        self.tree.mkdir()
        chance = random.Random(5)
        for rank in range(4):
            (self.tree / f"noise.{rank}").write_bytes(chance.randbytes(9 << 20))
        self.pack("set", "--profile", "none")
        container = next((self.store / "sets" / "set").glob("*.fbc"))
        with open(container, "r+b") as file:
            file.seek(container.stat().st_size // 2)
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte ^ 8]))
        step, failed = 64 << 10, 0
        with Mounted(self, self.store) as mount:
            for rank in range(4):
                original = (self.tree / f"noise.{rank}").read_bytes()
                with open(mount.at / "set" / f"noise.{rank}", "rb", buffering=0) as file:
                    for begin in range(0, len(original), step):
                        try:
                            self.assertEqual(os.pread(file.fileno(), step, begin), original[begin : begin + step])
                        except OSError as error:
                            self.assertEqual(error.errno, errno.EIO)
                            failed += 1
            wait_for("the line in the log", lambda: "frame" in mount.log.read_text())
        self.assertGreater(failed, 0)
        self.assertLess(failed, 4 * (9 << 20) // step // 2)

    def test_a_set_with_a_damaged_manifest_is_seen_and_cannot_be_opened(self):
        self.make_tree()
        for name in ("one", "two", "three"):
            self.pack(name)
        manifest = self.store / "sets" / "two" / "manifest"
        whole = manifest.read_bytes()
        manifest.write_bytes(whole[: len(whole) // 2])
        (self.store / "sets" / "three" / "manifest").write_bytes(b"")
        with Mounted(self, self.store) as mount:
            self.assertEqual({*os.listdir(mount.at)}, {"one", "two", "three", "latest"})
            self.assertEqual(os.readlink(mount.at / "latest"), "one")
            for name in ("two", "three"):
                with self.assertRaises(OSError) as raised:
                    os.listdir(mount.at / name)
                self.assertEqual(raised.exception.errno, errno.EIO)
                self.assertIn(f"set {name} cannot be opened", mount.log.read_text())
            self.assertTrue(same(self.tree, mount.at / "one"))
            manifest.write_bytes(whole)
            wait_for("the set that is whole again", lambda: os.path.isdir(mount.at / "two"))
            self.assertTrue(same(self.tree, mount.at / "two"))

    def test_new_sets_come_and_removed_ones_stay_open(self):
        self.make_tree()
        self.pack("one")
        with Mounted(self, self.store) as mount:
            self.assertEqual(os.readlink(mount.at / "latest"), "one")
            with open(mount.at / "one" / "dump.cpu0000.npy", "rb", buffering=0) as file:
                self.pack("two")
                wait_for("the new set", lambda: os.readlink(mount.at / "latest") == "two")
                shutil.rmtree(self.store / "sets" / "one")
                wait_for("the removed set", lambda: not (mount.at / "one").exists())
                self.assertEqual(file.read(), (self.tree / "dump.cpu0000.npy").read_bytes())

    def test_a_set_that_takes_anothers_name_is_not_taken_for_it(self):
        self.make_tree()
        self.pack("set")
        with Mounted(self, self.store) as mount:
            path = mount.at / "set" / "dump.cpu0000.npy"
            before = path.read_bytes()
            shutil.rmtree(self.store / "sets" / "set")
            wait_for("the removed set", lambda: not path.exists())
            shutil.rmtree(self.tree)
            make_tree(self.tree, ranks=6, shift=1.0)
            self.pack("set")
            wait_for("the new set", path.exists)
            self.assertNotEqual(before, path.read_bytes())
            self.assertTrue(same(self.tree, mount.at / "set"))

    def test_latest_at_the_root_follows_the_newest_set(self):
        self.make_tree()
        self.pack("one")
        with Mounted(self, self.store, "--latest") as mount:
            self.assertTrue(same(self.tree, mount.at))
            (self.tree / "empty").write_bytes(b"no longer")
            self.pack("two")
            wait_for("the new set", lambda: (mount.at / "empty").read_bytes() == b"no longer")
            self.assertTrue(same(self.tree, mount.at))

    def test_open_files_of_two_sets_at_one_path_each_have_their_own_bytes(self):
        self.make_tree()
        self.pack("one")
        old = (self.tree / "dump.cpu0000.npy").read_bytes()
        with Mounted(self, self.store, "--latest") as mount:
            path = mount.at / "dump.cpu0000.npy"
            with open(path, "rb", buffering=0) as before:
                self.assertEqual(os.pread(before.fileno(), 100, 0), old[:100])
                shutil.rmtree(self.tree)
                make_tree(self.tree, ranks=6, shift=1.0)
                new = (self.tree / "dump.cpu0000.npy").read_bytes()
                self.pack("two")
                wait_for("the new set", lambda: path.read_bytes() == new)
                with open(path, "rb", buffering=0) as after:
                    for begin in range(0, len(old), 4096):
                        self.assertEqual(os.pread(before.fileno(), 4096, begin), old[begin : begin + 4096])
                        self.assertEqual(os.pread(after.fileno(), 4096, begin), new[begin : begin + 4096])

    def test_what_was_read_once_the_kernel_keeps(self):
        self.make_tree()
        self.pack("set")
        content = (self.tree / "dump.cpu0000.npy").read_bytes()
        for options in ((), ("--latest",)):
            with Mounted(self, self.store, *options) as mount:
                path = mount.at / ("" if options else "set") / "dump.cpu0000.npy"
                self.assertEqual(path.read_bytes(), content)
                with open(path, "rb", buffering=0) as again:
                    mount.process.send_signal(signal.SIGSTOP)  # nobody answers any more
                    found = []
                    reader = threading.Thread(target=lambda: found.append(os.pread(again.fileno(), len(content), 0)))
                    reader.start()
                    reader.join(2)
                    waits = reader.is_alive()
                    mount.process.send_signal(signal.SIGCONT)
                    reader.join(PATIENCE)
                    self.assertFalse(waits)
                    self.assertEqual(found, [content])

    def test_many_sets_take_few_descriptors(self):
        self.make_tree()
        for number in range(30):
            self.pack(f"set{number:02}", "--group-size", "1")
        with Mounted(self, self.store, descriptors=80) as mount:
            for _ in range(2):
                for number in range(30):
                    self.assertTrue(same(self.tree, mount.at / f"set{number:02}"), number)
            for number in range(1, 30):
                shutil.rmtree(self.store / "sets" / f"set{number:02}")
            wait_for("the removed sets", lambda: not (mount.at / "set29").exists())
            opened = Path(f"/proc/{mount.process.pid}/fd")
            wait_for("their space", lambda: not any("(deleted)" in os.readlink(path) for path in opened.iterdir()))

    def test_a_set_that_lost_a_container_while_it_was_closed_shows_no_other_files(self):
        self.make_tree()
        for number in range(12):
            self.pack(f"set{number:02}", "--group-size", "1")
        with Mounted(self, self.store, descriptors=80) as mount:
            files = [path.name for path in sorted(self.tree.glob("dump.cpu*.npy"))]
            for file in files:
                (mount.at / "set00" / file).stat()
            for number in range(1, 12):
                self.assertTrue(same(self.tree, mount.at / f"set{number:02}"))
            containers = sorted((self.store / "sets/set00").glob("*.fbc"))
            containers[0].rename(self.root / "aside")
            for file in files:
                with contextlib.suppress(OSError):
                    self.assertEqual((mount.at / "set00" / file).read_bytes(), (self.tree / file).read_bytes())
            wait_for("the other files", lambda: sum((mount.at / "set00" / file).exists() for file in files) == len(files) - 1)
            for file in files:
                if (mount.at / "set00" / file).exists():
                    self.assertEqual((mount.at / "set00" / file).read_bytes(), (self.tree / file).read_bytes())

    def test_it_ends_when_told_though_files_are_open(self):
        self.make_tree()
        self.pack("set")
        with Mounted(self, self.store) as mount:
            file = os.open(mount.at / "set" / "dump.cpu0000.npy", os.O_RDONLY)
            os.read(file, 10)
            mount.process.send_signal(signal.SIGTERM)
            self.assertEqual(mount.process.wait(PATIENCE), 0)
            with contextlib.suppress(OSError):  # nobody is there any more to be told of it
                os.close(file)
            self.assertEqual(os.listdir(mount.at), [])

    def test_what_cannot_be_mounted_is_said(self):
        self.make_tree()
        self.pack("set")
        missing = forebay("mount", self.store, self.root / "nowhere")
        self.assertEqual(missing.code, 3, missing.err)
        self.assertIn("nowhere", missing.err)
        no_store = forebay("mount", self.tree, self.root)
        self.assertNotEqual(no_store.code, 0)

    def test_a_mount_hides_nothing(self):
        self.make_tree()
        self.pack("set")
        full = forebay("mount", self.store, self.tree)
        self.assertNotEqual(full.code, 0)
        self.assertIn("has something in it, which a mount would hide", full.err)
        with Mounted(self, self.store) as mount:
            again = forebay("mount", self.store, mount.at)
            self.assertNotEqual(again.code, 0)
            self.assertIn("has something mounted on it already", again.err)
            os.kill(mount.process.pid, signal.SIGKILL)
            mount.process.wait(PATIENCE)
            dead = forebay("mount", self.store, mount.at)
            self.assertNotEqual(dead.code, 0)
            self.assertIn("has something mounted on it already", dead.err)

    def test_a_set_for_which_a_restore_has_memory_can_be_read(self):
        archives = sorted(DATA.glob("cosmology*.tar.zst"))
        if not archives:
            self.skipTest("no real sets here")
        real = self.root / "real"
        real.mkdir()
        subprocess.run(["tar", "-I", "zstd", "-xf", archives[-1], "-C", real], check=True, timeout=PATIENCE)
        self.pack("real", "--profile", "max", tree=real)
        restored = forebay("restore", "real", "--store", self.store, "--to", self.root / "restored", "--memory", "64M")
        self.assertEqual(restored.code, 0, restored.err)
        with Mounted(self, self.store, "--memory", "64M") as mount:
            self.assertTrue(same(real, mount.at / "real"))

    def test_real_sets(self):
        archives = sorted(DATA.glob("noh*.tar.zst"))
        if not archives:
            self.skipTest("no real sets here")
        real = self.root / "real"
        real.mkdir()
        with subprocess.Popen(["zstd", "-dcq", str(archives[0])], stdout=subprocess.PIPE) as unpack:
            with tarfile.open(fileobj=unpack.stdout, mode="r|") as archive:
                archive.extractall(real)
        self.pack("real", tree=real)
        with Mounted(self, self.store) as mount:
            self.assertTrue(same(real, mount.at / "real"))


if __name__ == "__main__":
    if not can_mount():
        print("FUSE cannot be used here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
