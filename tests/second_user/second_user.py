#!/usr/bin/python3
"""What another user of the machine can do to somebody who uses Forebay: nothing of his is run or believed, and nothing is
written through what he has put in the way. The attacks are those that were made on Forebay, and their like.

As root only, which can be two other users; code 77 otherwise.
usage: second_user.py FOREBAY WRITE_GROUPS [MPIIO_LAYER]
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

COMMAND, WRITE_GROUPS = sys.argv[1:3]
EXTENSIONS = sorted(pathlib.Path(COMMAND).resolve().parent.parent.glob("libexec/forebay/forebay-*"))
LAYER = sys.argv[3] if len(sys.argv) > 3 and sys.argv[3].endswith(".so") else ""
VICTIM, ATTACKER = 20001, 20002  # numbers that nobody has
SECONDS = 60
OK, FAILED, USAGE, UNSUPPORTED = 0, 1, 2, 9

PLANTED = """#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void run(void) { close(open(RAN, O_CREAT | O_WRONLY, 0666)); }
"""

XML = """<adios-config host-language="C"><adios-group name="g"><var name="x" type="double"/></adios-group>
<method group="g" method="%s"/></adios-config>"""


def run(words, user=VICTIM, cwd=None, **environment):
    base = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
    return subprocess.run([os.fspath(w) for w in words], user=user, group=user, extra_groups=[], cwd=cwd, env=base | environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=SECONDS, check=False)  # fmt: skip


class SecondUser(unittest.TestCase):
    """`scratch` is everybody's, as /tmp is. `mine` in it is the victim's, `his` the attacker's."""

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="forebay-second-user-"))
        os.chmod(self.scratch, 0o1777)
        self.mine, self.his = self.directory("mine", VICTIM), self.directory("his", ATTACKER)
        self.ran = self.scratch / "ran"
        self.precious = self.file(self.mine / "precious", "precious", VICTIM)
        # The tests' own build may lie where only root can go.
        self.forebay = self.install("mine")

    def tearDown(self):
        self.assertEqual("precious", self.precious.read_text())
        shutil.rmtree(self.scratch)

    def put(self, source, target):
        try:
            os.link(source, target)
        except OSError:
            shutil.copy(source, target)

    def install(self, prefix):
        """The command and its extensions below `prefix`; the path of the command."""
        self.put(COMMAND, self.directory(f"{prefix}/bin", VICTIM) / "forebay")
        extensions = self.directory(f"{prefix}/libexec/forebay", 0)  # root runs the command, too
        for program in EXTENSIONS:
            self.put(program, extensions / program.name)
        return self.scratch / prefix / "bin/forebay"

    def directory(self, path, user, mode=0o755):
        path = self.scratch / path
        made = [p for p in (path, *path.parents) if not p.exists()]
        path.mkdir(parents=True)
        for one in made:
            os.chown(one, user, user)
            os.chmod(one, mode)
        return path

    def file(self, path, text, user, mode=0o644):
        path.write_text(text)
        os.chown(path, user, user)
        os.chmod(path, mode)
        return path

    def link(self, path, target):
        os.symlink(target, path)
        os.lchown(path, ATTACKER, ATTACKER)

    def make(self, words, user=VICTIM, code=OK, **options):
        done = run([self.forebay, *words], user, **options)
        self.assertEqual(code, done.returncode, done.stdout)
        return done.stdout


class Plugins(SecondUser):
    def plant(self, *places):
        source = self.file(self.his / "planted.c", PLANTED, ATTACKER)
        built = self.his / "planted.so"
        subprocess.run(["cc", "-shared", "-fPIC", f'-DRAN="{self.ran}"', source, "-o", built], check=True, timeout=SECONDS)
        for place in places:
            path = self.scratch / place
            if not path.parent.exists():
                self.directory(path.parent, ATTACKER)
            shutil.copy(built, path)
            os.chown(path, ATTACKER, ATTACKER)

    def not_run(self, words, *codes, user=VICTIM, **options):
        done = run(words, user, **options)
        self.assertFalse(self.ran.exists(), done.stdout)
        self.assertIn(done.returncode, codes, done.stdout)
        return done.stdout

    def test_what_is_planted_is_code(self):
        self.plant("planted.so")
        run(["/usr/bin/python3", "-c", f"import ctypes; ctypes.CDLL('{self.scratch}/planted.so')"])
        self.assertTrue(self.ran.exists(), "or the other tests find nothing")

    def test_methods_are_not_looked_for_above_the_installation(self):
        programs = [self.forebay, self.install("mine/app"), self.install(".")]
        self.plant("forebay/methods/nc4.so", "lib/forebay/methods/nc4.so")
        config = self.file(self.mine / "run.xml", XML % "NC4", VICTIM)
        for program in programs:
            for user in (VICTIM, 0):
                self.not_run([program, "config", "check", config], USAGE, UNSUPPORTED, user=user)
                self.not_run([program, "config", "methods"], OK, user=user)

    def test_extensions_are_not_run_where_others_can_put_them(self):
        self.assertTrue(EXTENSIONS)
        command = self.directory("bin", VICTIM) / "forebay"
        self.put(COMMAND, command)
        planted = [self.directory(place, ATTACKER) / "forebay-arrays" for place in ("libexec/forebay", "his/libexec/forebay")]
        for path in (*planted, self.his / "forebay-arrays", self.his / "forebay-read"):
            self.file(path, f"#!/bin/sh\ntouch {self.ran}\n", ATTACKER, 0o755)
        run([planted[0]])
        self.assertTrue(self.ran.exists(), "or the rest finds nothing")
        self.ran.unlink()
        for user in (VICTIM, 0):
            said = self.not_run([command, "read", self.mine], FAILED, user=user)
            self.assertIn(f"forebay-arrays belongs to user {ATTACKER}", said)
            self.not_run([command, "verify", self.mine, "--consistency"], FAILED, user=user)
        shutil.rmtree(self.scratch / "libexec")
        for directory in (self.his, self.his / "libexec/forebay"):
            said = self.not_run([command, "read", self.mine], UNSUPPORTED, cwd=directory, PATH=f"{directory}:{os.environ['PATH']}")
            self.assertIn("install the package forebay-arrays", said)

    def test_methods_are_not_run_where_others_can_put_them(self):
        config = self.file(self.mine / "run.xml", XML % "PLUG", VICTIM)
        self.plant("plugs/plug.so")
        said = self.not_run([self.forebay, "config", "check", config], UNSUPPORTED, FOREBAY_METHOD_PATH=f"{self.scratch}/plugs")
        self.assertIn(f"plug.so belongs to user {ATTACKER}", said)
        shared = self.directory("mine/shared", VICTIM, 0o777)
        self.plant("mine/shared/plug.so")
        os.chown(shared / "plug.so", VICTIM, VICTIM)
        said = self.not_run([self.forebay, "config", "check", config], UNSUPPORTED, FOREBAY_METHOD_PATH=f"{shared}")
        self.assertIn(f"everybody can write {shared}", said)
        self.link(self.scratch / "link", self.scratch / "plugs")
        self.not_run([self.forebay, "config", "check", config], UNSUPPORTED, FOREBAY_METHOD_PATH=f"{self.scratch}/link")

    def test_modules_of_the_command_are_not_run_where_others_can_put_them(self):
        self.forebay = self.install(".")
        self.plant("lib/forebay/convert/hdf5.so", "lib/forebay/forebay-mpi.so")
        tree = self.directory("mine/tree", VICTIM)
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }".ljust(117) + "\n"
        (tree / "x.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00" + header.encode() + bytes(8))
        store = self.mine / "store"
        self.make(["pack", tree, "--store", store])
        said = self.not_run([self.forebay, "pack", tree, "--store", store, "--name", "again"], UNSUPPORTED, PMI_RANK="0", PMI_SIZE="1")
        self.assertIn("the MPI module cannot be loaded: it is not run", said)
        said = self.not_run([self.forebay, "convert", store, "--to", self.mine / "run.h5"], UNSUPPORTED)
        self.assertIn("the plug-in for this format cannot be loaded: it is not run", said)
        done = run([self.forebay, "doctor", store, "--stage", "/dev/shm"])
        self.assertFalse(self.ran.exists(), done.stdout)

    def test_modules_of_the_preloaded_layer_are_not_run_where_others_can_put_them(self):
        mpich = shutil.which("mpichversion") and "libmpich.so.12"
        if not LAYER or not mpich:
            self.skipTest("no MPI-IO layer, or no MPICH")
        layer = self.scratch / "libforebay_mpiio.so"
        self.put(LAYER, layer)
        self.plant("forebay/forebay-mpiio-mpich.so")
        program = f"""import ctypes
mpi = ctypes.CDLL("{mpich}", ctypes.RTLD_GLOBAL)
mpi.MPI_Init(None, None)
file = ctypes.c_void_p()
ctypes.CDLL(None).MPI_File_open(0x44000001, b"{self.mine}/file", 4 | 1, 0x1c000000, ctypes.byref(file))
mpi.MPI_Finalize()"""
        said = self.not_run(["/usr/bin/python3", "-c", program], OK, LD_PRELOAD=f"{layer}", FOREBAY_MPIIO_ATOMIC="always")
        self.assertIn("forebay-mpiio-mpich.so belongs to another user", said)

    def test_settings_of_ucx_are_not_taken_from_others(self):
        self.file(self.his / "ucx.conf", f"UCX_LOG_LEVEL=info\nUCX_LOG_FILE={self.precious}\n", ATTACKER)
        run([self.forebay, "doctor", "--stage", "/dev/shm"], cwd=self.his)
        self.assertEqual("precious", self.precious.read_text())


class Servers(SecondUser):
    def lockd(self, *words, user=VICTIM):
        """Serves until the test is over; returns the addresses."""
        process = subprocess.Popen([self.forebay, "lockd", *map(os.fspath, words)], user=user, group=user, extra_groups=[],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # fmt: skip

        def end():
            process.terminate()
            process.wait(SECONDS)
            process.stdout.close()

        self.addCleanup(end)
        return process.stdout.readline().split()[-1]

    def test_another_user_is_not_let_in(self):
        name = f"@forebay-second-user-{os.getpid()}"
        address = self.lockd("--listen", f"unix:{name}")
        self.make(["locks", address])
        self.assertIn(f"belongs to user {VICTIM}", self.make(["locks", address], ATTACKER, FAILED))
        talk = f"""import socket
client = socket.socket(socket.AF_UNIX)
client.connect("\\0{name[1:]}")
print(client.recv(1000))"""
        self.assertIn(f"belongs to user {ATTACKER}", run(["/usr/bin/python3", "-c", talk], ATTACKER).stdout)
        path = self.mine / "socket"
        address = self.lockd("--listen", f"unix:{path}")
        self.assertEqual(0o600, path.stat().st_mode & 0o777)
        self.make(["locks", address], ATTACKER, FAILED)

    def test_secrets_are_the_users_own(self):
        secret, other = self.mine / "secret", self.his / "secret"
        address = self.lockd("--listen", "tcp:127.0.0.1:0", "--new-secret", "--secret", secret)
        self.make(["locks", address, "--secret", secret])
        self.assertIn("Permission denied", self.make(["locks", address, "--secret", secret], ATTACKER, FAILED))
        self.file(other, "ab" * 32 + "\n", ATTACKER, 0o600)
        self.assertIn("another secret", self.make(["locks", address, "--secret", other], ATTACKER, FAILED))
        # One that another user made, so that he knows it.
        os.chmod(other, 0o644)
        self.make(["lockd", "--listen", "tcp:127.0.0.1:0", "--secret", other], code=FAILED)
        self.link(self.scratch / "planted", self.mine / "new")
        self.make(["lockd", "--listen", "tcp:127.0.0.1:0", "--new-secret", "--secret", self.scratch / "planted"], code=4)
        self.assertFalse((self.mine / "new").exists())

    def serve_as_attacker(self, path):
        """A socket that answers whatever comes, and what it has heard."""
        server = socket.socket(socket.AF_UNIX)
        before = os.geteuid()
        os.seteuid(ATTACKER)
        server.bind(str(path))
        os.seteuid(before)
        os.chmod(path, 0o777)
        self.addCleanup(server.close)
        return server

    def test_another_users_socket_stays_and_is_not_believed(self):
        path = self.scratch / "socket"
        server = self.serve_as_attacker(path)
        server.close()
        for user in (VICTIM, 0):
            said = self.make(["lockd", "--listen", f"unix:{path}"], user, 4)
            self.assertIn("somebody listens there already", said)
        self.assertEqual(ATTACKER, path.lstat().st_uid, "also root leaves it alone")

        code = f"""import os, socket
server = socket.socket(socket.AF_UNIX)
server.bind("{self.his}/live")
os.chmod("{self.his}/live", 0o777)
server.listen(8)
print("ready", flush=True)
while True: server.accept()[0].recv(1)"""
        process = subprocess.Popen(["/usr/bin/python3", "-c", code], user=ATTACKER, group=ATTACKER, extra_groups=[],
                                   stdout=subprocess.PIPE, text=True)  # fmt: skip
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual("ready\n", process.stdout.readline())
        said = self.make(["locks", f"unix:{self.his}/live"], code=FAILED)
        self.assertIn(f"belongs to user {ATTACKER}", said)

    def test_nobody_is_kept_from_serving_by_a_lock_on_the_directory(self):
        code = f"""import fcntl, os, sys
fcntl.flock(os.open("{self.scratch}", os.O_RDONLY), fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()"""
        process = subprocess.Popen(["/usr/bin/python3", "-c", code], user=ATTACKER, group=ATTACKER, extra_groups=[],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
        self.addCleanup(process.communicate)
        self.assertEqual("locked\n", process.stdout.readline())
        self.make(["locks", self.lockd("--listen", f"unix:{self.scratch}/socket")])

    def test_a_job_on_one_node_opens_no_port(self):
        store, stage = self.mine / "store", self.mine / "stage"
        look = "import os, time; time.sleep(1)\n" + LOOK_FOR_PORTS
        said = self.make(["run", "--store", store, "--stage", stage, "--", "/usr/bin/python3", "-c", look])
        self.assertIn("ports: 0\n", said)
        said = self.make(["run", "--store", store, "--stage", stage, "--listen", "tcp:*:0", "--", "/usr/bin/python3", "-c", look])
        self.assertNotIn("ports: 0\n", said)


# Listening sockets of this user.
LOOK_FOR_PORTS = """
count = 0
for name in ("/proc/net/tcp", "/proc/net/tcp6"):
    with open(name) as file:
        for line in list(file)[1:]:
            words = line.split()
            count += words[3] == "0A" and int(words[7]) == os.getuid()
print(f"ports: {count}")
"""


class Places(SecondUser):
    def pack(self, name, code=OK, store=None):
        tree = self.mine / "tree"
        if not tree.exists():
            self.file(self.directory("mine/tree", VICTIM) / "file", "text", VICTIM)
        return self.make(["pack", tree, "--store", store or self.mine / "store", "--name", name], code=code)

    def test_a_rendezvous_is_the_users_alone(self):
        self.pack("first")
        self.directory("theirs", ATTACKER, 0o777)
        self.directory("open", VICTIM, 0o777)
        self.link(self.scratch / "link", self.mine)
        for place in ("theirs", "open", "link"):
            path = self.scratch / place
            before = sorted(os.listdir(path))
            self.make(["aggregator", "--store", self.mine / "store", "--rendezvous", path], code=USAGE if place == "link" else FAILED)
            self.make(["status", "--rendezvous", path], code=USAGE if place == "link" else FAILED)
            self.assertEqual(before, sorted(os.listdir(path)), "nothing was left there")

    def test_a_store_is_not_everybodys(self):
        self.pack("first")
        sets = self.mine / "store" / "sets"
        os.chmod(sets, 0o1777)
        shutil.copytree(sets / "first", sets / "planted")
        for path in (sets / "planted", *(sets / "planted").iterdir()):
            os.chown(path, ATTACKER, ATTACKER)
        self.assertIn("everybody can write into this directory of the store", self.pack("second", FAILED))
        self.make(["run", "--store", self.mine / "store", "--stage", self.mine / "stage", "--", "/bin/true"], code=FAILED)
        os.chmod(sets, 0o755)
        self.pack("second")

    def test_sets_are_no_links_and_pipes(self):
        """As a store that a group shares may have: nothing waits for ever, and no other file is read or removed."""
        self.pack("first")
        store = self.mine / "store"
        os.mkfifo(store / "sets" / "first" / "fifo")
        manifest = store / "sets" / "first" / "manifest"
        manifest.unlink()
        os.mkfifo(manifest)
        self.link(store / "sets" / "away", self.mine)
        for words in (["ls", store], ["verify", store], ["prune", store, "--keep-last", "1"], ["status", "--store", store]):
            done = run([self.forebay, *words])
            self.assertGreaterEqual(done.returncode, 0, f"{words}: a crash\n{done.stdout}")
        self.assertTrue((self.mine / "tree" / "file").exists())

    def test_settings_of_scr_are_not_taken_from_others(self):
        prefix = self.directory("prefix", VICTIM, 0o777)
        words = ["scr", "prerun", "--prefix", prefix]
        self.file(prefix / ".scrconf", f"FOREBAY_STORE={self.his}/store\n", ATTACKER)
        self.assertIn("another user wrote this file", self.make(words, code=FAILED))
        self.file(self.mine / "conf", "SCR_FLUSH=2\n", VICTIM)
        own = self.directory("prefix/.scr", ATTACKER, 0o777)
        said = self.make(words, code=FAILED, SCR_CONF_FILE=f"{self.mine}/conf")
        self.assertIn(f"{own}: belongs to user {ATTACKER}", said)
        self.assertEqual([], list(own.iterdir()))
        own.rmdir()
        self.make(words, SCR_CONF_FILE=f"{self.mine}/conf")

    def write_groups(self, method, path, test="everything"):
        program = self.mine / "write_groups"
        if not program.exists():
            self.put(WRITE_GROUPS, program)
        return run([program, method, path, test], cwd=self.mine)

    def test_names_in_memory_that_can_be_guessed(self):
        planted = pathlib.Path(f"/dev/shm/forebay-io-{VICTIM}")
        self.assertFalse(planted.exists())
        planted.mkdir()
        self.addCleanup(shutil.rmtree, planted)
        os.chown(planted, ATTACKER, ATTACKER)
        os.chmod(planted, 0o777)
        done = self.write_groups("FOREBAY:profile=fast", self.mine / "out.bp")
        self.assertEqual(OK, done.returncode, done.stdout)
        self.assertEqual([], list(planted.iterdir()), "nothing was put into another user's directory")
        self.assertTrue(any(path.name.endswith(".store") for path in self.mine.iterdir()))

    def test_files_that_grow_do_not_follow_links_of_others(self):
        for method in ("MPI", "POSIX", "MPI_AGGREGATE:num_aggregators=1", "PHDF5", "NC4"):
            for test in ("everything", "everything_append"):
                path = self.scratch / "out.bp"
                self.link(path, self.precious)
                done = self.write_groups(method, path, test)
                self.assertEqual("precious", self.precious.read_text(), f"{method} {test}: {done.stdout}")
                for left in self.scratch.glob("out.bp*"):
                    shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *(word for word in sys.argv[3:] if not word.endswith(".so"))])
