#!/usr/bin/env python3
"""What the command does with bad input: a clear error, the right exit code, nothing lost and nothing half done."""

import ctypes
import ctypes.util
import json
import os
import re
import resource
import socket
import struct
import subprocess
import unittest

from support import DAMAGED, EXISTS, FAILED, LIMIT, NO_SPACE, NOT_FOUND, OK, UNSUPPORTED, USAGE
from support import COMMAND, StoreTest, environment, flip, forebay, main, make_tree, snapshot


class BadSources(StoreTest):
    def test_missing_directory(self):
        answer = self.run_error(NOT_FOUND, "pack", self.work / "none", "--store", self.store)
        self.assertIn("none", answer.err)
        self.assertEqual([], list((self.store / "sets").glob("*")))

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_unreadable_file(self):
        (self.tree / "run.log").chmod(0)
        self.assertIn("run.log", self.run_error(FAILED, "pack", self.tree, "--store", self.store).err)

    def test_devices_and_fifos(self):
        os.mkfifo(self.tree / "fifo")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.fspath(self.tree / "socket"))
            self.assertIn("fifo", self.run_error(UNSUPPORTED, "pack", self.tree, "--store", self.store, "--strict").err)
            self.assertEqual([], list((self.store / "sets").glob("*")))
            answer = forebay("pack", self.tree, "--store", self.store)
            self.assertEqual(OK, answer.code, answer.err)
            self.assertRegex(answer.err, r"warning: 2 special files skipped: .*fifo is a FIFO, .*socket is a socket")
            skipped = self.run_ok("pack", self.tree, "--store", self.store, "--name", "b", "--json").json["skipped_files"]
            self.assertEqual(2, len(skipped))
            self.run_ok("pack", self.tree, "--store", self.store, "--name", "c", "--strict", "--exclude", "fifo",
                        "--exclude", "sock*", "--include", "*")
        self.run_error(UNSUPPORTED, "pack", self.tree / "fifo", "--store", self.store)
        self.run_error(USAGE, "pack", self.tree, "--store", self.store, "--name", "d", "--include", "none")
        self.run_ok("restore", "c", "--store", self.store, "--to", self.work / "back")
        self.assertEqual({"fifo", "socket"}, set(os.listdir(self.tree)) - set(os.listdir(self.work / "back")))

    def test_existing_name(self):
        self.pack()
        before = snapshot(self.store)
        self.assertIn("DD0008", self.run_error(EXISTS, "pack", self.tree, "--store", self.store).err)
        self.assertEqual(before, snapshot(self.store))

    def test_bad_names(self):
        for name in ("a/b", "..", "latest", ".hidden", "x" * 300):
            self.run_error(USAGE, "pack", self.tree, "--store", self.store, "--name", name)

    def test_bad_description(self):
        toml = self.work / "bad.toml"
        toml.write_text("= nonsense")
        self.run_error(USAGE, "pack", self.tree, "--store", self.store, "--describe", toml)
        self.run_error(NOT_FOUND, "pack", self.tree, "--store", self.store, "--describe", self.work / "none.toml")

    def test_a_store_inside_something_else(self):
        self.run_error(USAGE, "pack", self.tree, "--store", self.work / "DD0008")
        self.run_error(NOT_FOUND, "pack", self.tree, "--store", self.work / "no" / "such")

    def test_too_little_memory(self):
        answer = self.run_error(LIMIT, "pack", self.tree, "--store", self.store, "--memory", "1M")
        self.assertRegex(answer.err, r"\(.*\)$")
        self.pack()
        self.run_error(LIMIT, "restore", "DD0008", "--store", self.store, "--to", self.work / "b", "--memory", "1M")

    def test_file_size_limit_is_no_space(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        answer = forebay("pack", self.tree, "--store", self.store, preexec_fn=limit)
        self.assertEqual(NO_SPACE, answer.code, answer.err)
        self.assertEqual([], list((self.store / "sets").glob("*")))


class BadStores(StoreTest):
    def test_no_store(self):
        for words in (["ls", self.work / "none"], ["verify", self.work / "none"],
                      ["restore", "x", "--store", self.work / "none", "--to", self.work / "t"],
                      ["prune", self.work / "none", "--keep-last", "1"]):
            self.run_error(NOT_FOUND, *words)
        self.assertFalse((self.work / "none").exists())

    def test_no_set(self):
        self.pack()
        for words in (["ls", self.store, "DD0009"], ["verify", self.store, "DD0009"], ["info", self.store, "DD0009"],
                      ["restore", "DD0009", "--store", self.store, "--to", self.work / "t"],
                      ["diff", "DD0008", "DD0009", "--store", self.store], ["repair", self.store, "DD0009"]):
            self.assertIn("DD0008", self.run_error(NOT_FOUND, *words).err)

    def test_empty_store(self):
        self.pack()
        self.run_ok("prune", self.store, "--keep-last", "1")
        for path in (self.store / "sets").iterdir():
            for file in path.iterdir():
                file.unlink()
            path.rmdir()
        self.assertIn("no sets", self.run_ok("ls", self.store).out)
        self.assertEqual([], self.run_ok("ls", self.store, "--json").json["sets"])
        self.run_ok("verify", self.store)
        self.run_error(NOT_FOUND, "restore", "latest", "--store", self.store, "--to", self.work / "t")

    def test_unknown_version(self):
        self.pack()
        (marker,) = [p for p in self.store.iterdir() if p.is_file()]
        first, body = marker.read_text().split("\n", 1)
        if hash128(body) is not None:
            self.assertEqual(first, f"forebay-store {hash128(body)}")
        body = re.sub(r'("version": ?)1\b', r"\g<1>99", body)
        digest = hash128(body)
        if digest is None:
            self.skipTest("no libxxhash")
        marker.write_text(f"forebay-store {digest}\n{body}")
        for words in (["ls", self.store], ["pack", self.tree, "--store", self.store, "--name", "new"]):
            answer = self.run_error(UNSUPPORTED, *words)
            self.assertIn("99", answer.err)


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def hash128(text):
    """XXH3-128 as the store's files carry it, or None without the library."""
    name = ctypes.util.find_library("xxhash")
    if name is None:
        return None
    function = ctypes.CDLL(name).XXH3_128bits
    function.argtypes, function.restype = [ctypes.c_char_p, ctypes.c_size_t], Hash128
    value = function(text.encode(), len(text.encode()))
    return f"{value.high:016x}{value.low:016x}"


class Damage(StoreTest):
    def setUp(self):
        super().setUp()
        self.pack_damaged()

    def pack_older(self, name, *words):
        """Stores a set of this name before the damaged one, which is packed again as the newest."""
        make_tree(self.work / name, shift=0.25)
        self.run_ok("remove", self.store, "DD0008")
        self.pack("--name", name, *words, tree=self.work / name)
        self.pack_damaged()

    def pack_damaged(self):
        self.pack("--group-size", "1", "--profile", "none")
        self.container = self.containers()[-1]
        # The bytes of rank 3's array lie in the last container, and nowhere else, as they are.
        self.offset = self.container.stat().st_size // 2
        flip(self.container, self.offset)

    def test_verify_tells_file_and_frame(self):
        answer = forebay("verify", self.store)
        self.assertEqual((DAMAGED, ""), (answer.code, answer.err))
        self.assertRegex(answer.out, r"^DD0008: DAMAGED, ")
        self.assertIn(str(self.container), answer.out)
        self.assertRegex(answer.out, r"frame \d+")
        self.assertIn("dump.cpu0003.npy", answer.out)
        report = forebay("verify", self.store, "DD0008", "--json")
        self.assertEqual(DAMAGED, report.code)
        (entry,) = report.json["sets"]
        self.assertFalse(report.json["intact"] or entry["intact"])
        damage = entry["damages"][0]
        self.assertEqual(["dump.cpu0003.npy"], damage["files"])
        self.assertIsInstance(damage["frame"], int)

    def test_restore_refuses_and_changes_nothing(self):
        target = self.work / "back"
        answer = self.run_error(DAMAGED, "restore", "DD0008", "--store", self.store, "--to", target)
        self.assertIn(str(self.container), answer.err)
        self.assertEqual([], [p for p in target.rglob("*") if not p.is_dir()] if target.exists() else [])

    def test_undamaged_files_can_be_had(self):
        target = self.work / "back"
        self.run_ok("restore", "DD0008", "--store", self.store, "--to", target, "--only", "*cpu0001*")
        self.assertEqual((self.tree / "dump.cpu0001.npy").read_bytes(), (target / "dump.cpu0001.npy").read_bytes())

    def test_latest_falls_back_with_a_warning(self):
        self.pack_older("DD0004")
        target = self.work / "back"
        answer = forebay("restore", "latest", "--store", self.store, "--to", target)
        self.assertEqual(OK, answer.code, answer.err)
        self.assertRegex(answer.err, r"^forebay: warning: .*DD0008")
        self.assertEqual(snapshot(self.work / "DD0004"), snapshot(target))
        answer = forebay("restore", "latest", "--store", self.store, "--to", self.work / "again", "--json")
        self.assertEqual("", answer.err)
        self.assertEqual(("DD0004", 1), (answer.json["set"], len(answer.json["skipped_sets"])))

    def test_nothing_intact(self):
        answer = self.run_error(DAMAGED, "restore", "latest", "--store", self.store, "--to", self.work / "back")
        self.assertIn("DD0008", answer.err)

    def test_prune_keeps_the_last_intact_set(self):
        self.pack_older("old", "--step", "1")
        self.pack_older("DD0004")
        answer = forebay("prune", self.store, "--keep-last", "1", "--json")
        self.assertEqual(DAMAGED, answer.code, answer.err)
        pruned = answer.json
        self.assertEqual((["old"], "DD0004"), (pruned["removed"], pruned["newest_intact"]))
        self.assertEqual(["DD0008"], [problem["set"] for problem in pruned["problems"]])
        self.assertEqual({"DD0004", "DD0008"}, set(pruned["kept"]))

    def test_prune_without_any_intact_set(self):
        self.pack_older("old", "--step", "1")
        for container in self.containers("old"):
            flip(container, container.stat().st_size // 2)
        self.run_error(DAMAGED, "prune", self.store, "--keep-last", "1")
        self.assertEqual(2, len(list((self.store / "sets").iterdir())))

    def test_repair_lists_what_is_lost(self):
        answer = forebay("repair", self.store, "DD0008", "--json")
        self.assertEqual((DAMAGED, "DD0008-repaired"), (answer.code, answer.json["repaired_set"]), answer.out)
        self.assertEqual(1, len(answer.json["lost_files"]))
        self.assertIn("dump.cpu0003.npy", answer.json["lost_files"][0])
        verified = forebay("verify", self.store, "DD0008-repaired", "--json").json["sets"][0]
        self.assertEqual(["dump.cpu0003.npy"], verified["damages"][0]["files"])
        self.run_ok("restore", "DD0008-repaired", "--store", self.store, "--to", self.work / "r", "--only", "*cpu000[012]*")
        self.run_error(EXISTS, "repair", self.store, "DD0008")

    def test_extract_of_the_damaged_frame(self):
        self.run_error(DAMAGED, "extract", "DD0008", "*", "--store", self.store, "--rank", "3", "--to", self.work / "o")
        self.run_ok("extract", "DD0008", "*", "--store", self.store, "--rank", "1", "--to", self.work / "o")

    def test_damaged_manifest(self):
        flip(self.store / "sets/DD0008/manifest", 150)
        answer = forebay("ls", self.store)
        self.assertEqual(OK, answer.code)
        self.assertRegex(answer.out, r"(?m)^DD0008 +- +- +damaged")
        self.assertIn("manifest", answer.err)
        (entry,) = forebay("ls", self.store, "--json").json["sets"]
        self.assertEqual("corrupt", entry["error"]["kind"])
        self.assertEqual(DAMAGED, forebay("verify", self.store).code)
        self.run_error(DAMAGED, "restore", "DD0008", "--store", self.store, "--to", self.work / "back")

    def test_damaged_index(self):
        flip(self.container, self.container.stat().st_size - 10)
        for words in (["ls", self.store, "DD0008"], ["info", self.container],
                      ["restore", "DD0008", "--store", self.store, "--to", self.work / "back"]):
            self.assertIn(str(self.container), self.run_error(DAMAGED, *words).err)
        self.assertEqual(DAMAGED, forebay("verify", self.store).code)


def put_fifo(path):
    os.mkfifo(path)


def put_circle(path):
    path.symlink_to(path.name)


def put_file(path):
    path.write_text("odd")


def put_directory(path):
    path.mkdir()


class OddEntries(StoreTest):
    """What else lies in a store: each set is judged alone, and the rest goes on."""

    NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}

    def setUp(self):
        super().setUp()
        for name, shift in ("DD0002", 0.5), ("DD0004", 0.25):
            make_tree(self.work / name, shift=shift)
            self.pack(tree=self.work / name)
        self.pack()

    def judged(self, odd, newest, removed, **options):
        """Every verb gets past the entry `odd`, and takes `newest` for the newest good set."""
        answer = forebay("verify", self.store, "--json", **options)
        self.assertEqual(DAMAGED, answer.code, answer.err)
        verdicts = {entry["name"]: entry["intact"] for entry in answer.json["sets"]}
        self.assertEqual({"DD0002", "DD0004", "DD0008", odd}, set(verdicts))
        self.assertEqual([odd], [name for name, intact in verdicts.items() if not intact])
        self.assertEqual(DAMAGED, forebay("verify", self.store, **options).code)
        target = self.work / "back"
        target.mkdir()
        target.chmod(0o777)
        answer = forebay("restore", "latest", "--store", self.store, "--to", target, "--json", **options)
        self.assertEqual(OK, answer.code, answer.out)
        self.assertEqual(newest, answer.json["set"])
        answer = forebay("prune", self.store, "--keep-last", "1", "--json", **options)
        self.assertEqual(DAMAGED, answer.code, answer.out)
        self.assertEqual(removed, answer.json["removed"])
        self.assertIn(odd, {problem["set"] for problem in answer.json["problems"]})
        self.assertTrue(os.path.lexists(self.store / "sets" / odd), "nothing of it is touched")
        return answer

    def test_things_that_are_no_sets(self):
        for put in (put_fifo, put_circle, put_file):
            with self.subTest(put=put.__name__):
                self.setUp()
                put(self.store / "sets" / "odd")
                answer = self.judged("odd", "DD0008", ["DD0002", "DD0004"])
                self.assertIn("no set", answer.json["problems"][0]["error"]["message"])
        self.setUp()
        put_directory(self.store / "sets" / "odd")
        self.judged("odd", "DD0008", ["DD0002", "DD0004"])

    def test_containers_that_are_no_files(self):
        for put in (put_fifo, put_circle, put_directory):
            with self.subTest(put=put.__name__):
                self.setUp()
                container = self.containers()[0]
                container.unlink()
                put(container)
                self.run_error(DAMAGED, "restore", "DD0008", "--store", self.store, "--to", self.work / "t")
                self.run_error(DAMAGED, "ls", self.store, "DD0008")
                self.judged("DD0008", "DD0004", ["DD0002"])

    def test_manifests_that_are_no_files(self):
        for put in (put_fifo, put_circle, put_directory):
            with self.subTest(put=put.__name__):
                self.setUp()
                manifest = self.store / "sets" / "DD0008" / "manifest"
                manifest.unlink()
                put(manifest)
                self.judged("DD0008", "DD0004", ["DD0002"])

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody who may not read")
    def test_what_may_not_be_read(self):
        def give_away():
            subprocess.run(["chmod", "-R", "a+rwX", self.store], check=True)
            self.work.chmod(0o755)

        give_away()
        self.containers()[0].chmod(0)
        self.judged("DD0008", "DD0004", ["DD0002"], **self.NOBODY)
        self.setUp()
        give_away()
        (self.store / "sets" / "DD0008").chmod(0)
        answer = self.judged("DD0008", "DD0004", [], **self.NOBODY)
        self.assertIn("nothing is removed", answer.json["problems"][1]["error"]["hint"])


class RestoreTargets(StoreTest):
    def setUp(self):
        super().setUp()
        self.pack()

    def test_existing_file_is_not_replaced(self):
        target = self.work / "back"
        target.mkdir()
        (target / "run.log").write_text("mine")
        answer = self.run_error(EXISTS, "restore", "DD0008", "--store", self.store, "--to", target)
        self.assertIn("run.log", answer.err)
        self.assertIn("--overwrite", answer.err)
        self.assertEqual("mine", (target / "run.log").read_text())
        self.assertFalse((target / "dump.cpu0000.npy").exists())

    def test_links_do_not_lead_outside(self):
        target, outside = self.work / "back", self.work / "outside"
        target.mkdir()
        outside.mkdir()
        (target / "sub").symlink_to(outside)
        answer = forebay("restore", "DD0008", "--store", self.store, "--to", target, "--overwrite")
        self.assertNotIn("parameters.txt", os.listdir(outside), answer.out)

    def test_pattern_that_matches_nothing(self):
        self.run_error(NOT_FOUND, "restore", "DD0008", "--store", self.store, "--to", self.work / "t", "--only", "zzz")


class FewDescriptors(StoreTest):
    def test_many_files_are_packed_and_restored(self):
        many = self.work / "many"
        many.mkdir()
        for rank in range(1000):
            (many / f"dump.{rank:04}").write_bytes(bytes([rank % 251]) * 700)
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))}
        self.run_ok("pack", many, "--store", self.store, "--group-size", 300, **limit)
        self.run_ok("verify", "--store", self.store, **limit)
        self.run_ok("restore", "latest", "--store", self.store, "--to", self.work / "back", **limit)
        self.assertEqual(snapshot(many), snapshot(self.work / "back"))
        self.run_ok("advise", many, **limit)

    def test_the_soft_limit_is_raised(self):
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8, 256))}
        self.run_ok("pack", self.tree, "--store", self.store, **limit)


class HostileNames(StoreTest):
    """Names that reorder a line, or that nobody sees, are shown harmlessly by whatever shows names."""

    NAMES = ("a\u202etxt.exe", "zero\u200bwidth", "isolate\u2067x", "del\x7f", "csi\u009b31m")
    BAD = re.compile("[\u200b-\u200f\u2028-\u202e\u2060-\u206f\x7f-\x9f\x00-\x09\x0b-\x1f]")

    def setUp(self):
        super().setUp()
        tensors, end = {}, 0
        for name in self.NAMES:
            tensors[name] = {"dtype": "F64", "shape": [4], "data_offsets": [end, end + 32]}
            end += 32
        header = json.dumps(tensors, ensure_ascii=False).encode()
        self.named = self.work / "named"
        self.named.mkdir()
        for name in self.NAMES[:3]:
            content = struct.pack("<Q", len(header)) + header + struct.pack(f"<{end // 8}d", *range(end // 8))
            (self.named / f"{name}.safetensors").write_bytes(content)
        self.shown("pack", self.named, "--store", self.store, "--name", "s1")
        self.shown("pack", self.named, "--store", self.store, "--name", "s2")

    def shown(self, *words):
        answer = forebay(*words)
        for text in (answer.raw.decode(), answer.err):
            found = self.BAD.search(text)
            self.assertIsNone(found, f"{words}: {found and text[max(0, found.start() - 40):found.end() + 40]!r}")
        return answer

    def test_nothing_shows_them(self):
        name, store = self.NAMES[0], self.store
        quoted = f'"{name}" > 0'
        for words in (["ls", store], ["ls", store, "s1", "--variables"], ["info", store, "s1", "--groups"], ["read", store],
                      ["read", store, name, "--to", self.work / "a.csv"], ["read", store, name, "--blocks"], ["read", store, name + "x"],
                      ["query", store, quoted], ["query", store, quoted, "--csv", "--values"], ["query", store, quoted.replace("exe", "x")],
                      ["convert", store, "--format", "npy", "--to", self.work / "npy"], ["convert", store, name + "x", "--to", self.work / "b.npy"],
                      ["verify", "--store", store, "--consistency"], ["diff", "s1", "s2", "--store", store],
                      ["extract", "s1", name, "--store", store, "--to", self.work / "x"], ["extract", "s1", name + "x", "--store", store],
                      ["advise", self.named], ["restore", "s1", "--store", store, "--to", self.work / "r", "--only", name],
                      ["report", store, "--to", self.work / "page"], ["pack", self.work / name, "--store", store]):
            self.shown(*words)
            if "--csv" not in words:
                self.shown(*words, "--json")
        page = (self.work / "page" / "index.html").read_text()
        self.assertIsNone(self.BAD.search(page))
        self.assertIn("\\u{202e}", page)

    def test_json_says_them_all_the_same(self):
        arrays = self.shown("read", self.store, "--json").json["arrays"]
        self.assertTrue(set(self.NAMES) <= {array["name"].split("/")[-1] for array in arrays}, arrays)


class Errors(StoreTest):
    def test_errors_as_json(self):
        cases = [(["ls", self.work / "none"], NOT_FOUND, "not_found"), (["pack"], USAGE, "invalid_argument"),
                 (["nonsense"], USAGE, "invalid_argument"), (["ls", "a", "b", "c"], USAGE, "invalid_argument"),
                 (["pack", self.tree, "--store", self.store, "--bogus"], USAGE, "invalid_argument")]
        for words, code, kind in cases:
            answer = forebay(*words, "--json")
            self.assertEqual((code, ""), (answer.code, answer.err), words)
            self.assertEqual({"kind", "message", "path", "offset", "hint"}, set(answer.json["error"]))
            self.assertEqual(kind, answer.json["error"]["kind"])

    def test_hostile_words_are_shown_harmlessly(self):
        answer = self.run_error(NOT_FOUND, "ls", "\x1b[2J\nnone")
        self.assertNotIn("\x1b", answer.err)
        answer = forebay("ls", b"\xff\xfe", "--json")
        self.assertEqual(NOT_FOUND, answer.code)
        self.assertEqual("//4=", answer.json["error"]["path"]["base64"])

    def test_full_standard_output(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([COMMAND, "--help"], stdout=full, stderr=subprocess.PIPE, env=environment())
        self.assertEqual(NO_SPACE, done.returncode)
        self.assertIn(b"standard output", done.stderr)


if __name__ == "__main__":
    main()
