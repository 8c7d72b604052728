#!/usr/bin/env python3
"""Verbs on small sets: what they do, what they print, and their JSON. Those that only look are in looking.py."""

import base64
import os
import re
import shutil
import struct
import unittest

from support import DIFFERENT, NOT_FOUND, OK, UNSUPPORTED, USAGE, StoreTest, field, forebay, main, make_tree, npy_bytes, snapshot

try:
    import h5py
except ImportError:
    h5py = None


HAS_ZFP = " zfp" in forebay("--version").out


class PackAndRestore(StoreTest):
    def test_round_trip(self):
        before = snapshot(self.tree)
        packed = self.pack()
        self.assertRegex(packed.out, r"^packed DD0008: \d+ files? of 4 ranks, ")
        self.assertEqual(before, snapshot(self.tree))
        restored = self.run_ok("restore", "DD0008", "--store", self.store, "--to", self.work / "back")
        self.assertRegex(restored.out, r"^restored DD0008 to ")
        self.assertEqual(before, snapshot(self.work / "back"))

    def test_every_scheme_and_profile(self):
        before = snapshot(self.tree)
        cases = [("--scheme", s) for s in ("agnostic", "agnostic-block", "aware", "aware-block", "auto")]
        cases += [("--profile", p) for p in ("none", "gzip", "paper", "fast", "max", "shuffle,zstd:3")]
        for number, case in enumerate(cases):
            name = f"set{number}"
            self.pack("--name", name, "--block-size", "4K", "--group-size", "3", *case)
            self.run_ok("restore", name, "--store", self.store, "--to", self.work / name)
            self.assertEqual(before, snapshot(self.work / name), case)

    def test_options_arrive(self):
        packed = self.pack("--name", "t100", "--step", "-7", "--group-size", "2", "--profile", "gzip", "--scheme",
                           "aware-block", "--block-size", "1K", "--memory", "256M", "--threads", "1", "--json").json
        self.assertEqual(("t100", -7, 4, 2), tuple(packed[k] for k in ("set", "step", "rank_count", "container_count")))
        (entry,) = self.run_ok("ls", self.store, "--json").json["sets"]
        self.assertEqual(("gzip", "aware-block", 2), tuple(entry[k] for k in ("profile", "scheme", "group_size")))
        container = self.run_ok("info", self.store, "t100", "--json").json["containers"][0]
        self.assertEqual(("aware-block", 1024), (container["scheme"], container["block_bytes"]))

    @unittest.skipUnless(HAS_ZFP, "this build lacks zfp")
    def test_lossy(self):
        packed = self.pack("--lossy", "/da*a=abs:1e-3", "--json").json
        (rule,) = packed["lossy_outcomes"]
        self.assertEqual(("/da*a=abs:1e-3", "abs", 1e-3, 4, 4), tuple(
            rule[k] for k in ("rule", "kind", "bound", "variable_count", "lossy_variable_count")))
        self.assertTrue(0 < rule["max_error"] < 1e-3)
        self.run_ok("verify", self.store)
        self.run_ok("restore", "DD0008", "--store", self.store, "--to", self.work / "back")
        before, after = snapshot(self.tree), snapshot(self.work / "back")
        self.assertEqual(before.keys(), after.keys())
        for name in before:
            same = before[name] == after[name]
            self.assertEqual(not name.endswith(b".npy"), same, name)
        listed = self.run_ok("ls", self.store, "DD0008", "-v", "--json").json
        self.assertEqual(["/da*a=abs:1e-3"], listed["sets"][0]["lossy"])
        losses = [v["loss"] for f in listed["files"] for v in f["variables"] if f["format"] == "npy"]
        self.assertEqual({rule["max_error"]}, {loss["max_error"] for loss in losses})
        self.assertIn("(lossy)", self.run_ok("ls", self.store).out)
        self.assertIn("abs:0.001, largest", self.run_ok("info", self.store, "DD0008", "--groups").out)
        self.assertRegex(self.run_ok("info", self.store, "DD0008").out, r"lossy +/da\*a=abs:1e-3")

    @unittest.skipIf(HAS_ZFP, "this build has zfp")
    def test_lossy_needs_zfp(self):
        answer = forebay("pack", self.tree, "--store", self.store, "--lossy", "*=abs:1")
        self.assertEqual(UNSUPPORTED, answer.code)
        self.assertIn("zfp", answer.err)

    @unittest.skipUnless(HAS_ZFP, "this build lacks zfp")
    def test_lossy_says_what_it_did(self):
        self.assertRegex(self.pack("--lossy", "*=abs:1e-3").out,
                         r"lossy: 4 of 4 variables under '\*=abs:1e-3' .* largest error abs:0\.000\d+, checked")
        self.assertRegex(self.pack("--lossy", "*=abs:1e-300", "--name", "fine").out, "lossy: none; 4 variables under")
        answer = forebay("pack", self.tree, "--store", self.store, "--name", "x", "--lossy", "/Temperature=abs:1")
        self.assertEqual(NOT_FOUND, answer.code)
        self.assertIn("/Temperature=abs:1", answer.err)

    def test_output_is_another_word_for_store(self):
        self.run_ok("pack", self.tree, "-o", self.store)
        self.run_ok("pack", self.tree, "--output", self.store, "--name", "again")
        self.run_ok("pack", self.tree, "--name", "third", env={"FOREBAY_STORE": str(self.store)})
        self.assertEqual(3, len(self.run_ok("ls", self.store, "--json").json["sets"]))

    def test_several_directories(self):
        make_tree(self.work / "other")
        self.pack(self.work / "other", "--name", "both")
        self.run_ok("restore", "both", "--store", self.store, "--to", self.work / "back")
        self.assertEqual(snapshot(self.tree), snapshot(self.work / "back/DD0008"))
        self.assertEqual(snapshot(self.work / "other"), snapshot(self.work / "back/other"))

    def test_names_that_confuse_parsers(self):
        for name in ("[a,b]", "ls", "{}", "-x", "a b", "$(x)"):
            make_tree(self.work / name, ranks=1)
            words = ["pack", "--store", self.store, "--name", "s", "--", name]
            self.run_ok(*words, cwd=self.work)
            self.run_ok("restore", "s", "--store", self.store, "--to", self.work / "back")
            self.assertEqual(snapshot(self.work / name), snapshot(self.work / "back"), name)
            shutil.rmtree(self.work / "back")
            shutil.rmtree(self.store)

    def test_only(self):
        self.pack()
        self.run_ok("restore", "DD0008", "--store", self.store, "--to", self.work / "back", "--only", "*cpu0002*",
                    "--only", "sub/*")
        files = {name for name, entry in snapshot(self.work / "back").items() if len(entry) == 3}
        self.assertEqual({b"dump.cpu0002.npy", b"sub/parameters.txt"}, files)

    def test_overwrite(self):
        self.pack()
        back = self.work / "back"
        self.run_ok("restore", "latest", "--store", self.store, "--to", back)
        (back / "run.log").write_text("mine")
        self.assertIn("run.log", forebay("restore", "latest", "--store", self.store, "--to", back, "--only", "run.log").err)
        self.assertEqual("mine", (back / "run.log").read_text())
        self.run_ok("restore", "latest", "--store", self.store, "--to", back, "--overwrite")
        self.assertEqual(snapshot(self.tree), snapshot(back))

    def test_latest_is_what_was_packed_last(self):
        make_tree(self.work / "DD0012", shift=1)
        self.pack(tree=self.work / "DD0012")
        packed = forebay("pack", self.tree, "--store", self.store)
        self.assertEqual(OK, packed.code)
        self.assertIn("its name lies below that of the one before, DD0012: another run? (--series)", packed.err)
        answer = self.run_ok("restore", "latest", "--store", self.store, "--to", self.work / "back", "--json").json
        self.assertEqual(("DD0008", []), (answer["set"], answer["skipped_sets"]))

    def test_raw_binary_by_description(self):
        raw = self.work / "raw"
        raw.mkdir()
        for rank in range(3):
            (raw / f"state.{rank:03}").write_bytes(b"head" * 4 + struct.pack("<100d", *range(100)))
        description = self.work / "raw.toml"
        description.write_text(
            '[[file]]\nmatch = "*"\n[[file.group]]\nname = "g"\n[[file.group.variable]]\nname = "state"\ntype = "f8"\n'
            'offset = 16\nshape = [100]\n')
        packed = forebay("pack", raw, "--store", self.store, "--describe", description, "--json")
        self.assertEqual(OK, packed.code, packed.out)
        self.assertEqual(3, packed.json["variable_count"])

    def test_match_exact_and_opaque(self):
        for number, (words, variables) in enumerate(((["--opaque"], 0), (["--exact"], 4), (["--match", ".*=/all"], 4))):
            packed = self.pack("--name", f"s{number}", "--json", *words).json
            if variables:
                self.assertEqual(variables, len([v for f in self.run_ok(
                    "ls", self.store, f"s{number}", "-v", "--json").json["files"] if f["format"] == "npy"
                    for v in f["variables"]]))
            else:
                self.assertNotIn("npy", str(self.run_ok("ls", self.store, "s0", "--json").json["files"][0]["format"]))
            self.assertEqual(f"s{number}", packed["set"])
        keys = [g["key"] for g in self.run_ok("info", self.store, "s2", "--groups", "--json").json["groups"]]
        self.assertTrue(any(key.startswith("/all") for key in keys), keys)


class Managing(StoreTest):
    def pack_steps(self, *steps):
        for step in steps:
            self.pack("--name", f"s{step}", "--step", step)

    def sets(self):
        return [s["name"] for s in self.run_ok("ls", self.store, "--json").json["sets"]]

    def test_prune(self):
        self.pack_steps(1, 2, 3, 4, 5)
        dry = self.run_ok("prune", self.store, "--keep-last", "2", "--keep-every", "2", "--dry-run", "--json").json
        self.assertEqual((True, ["s1", "s3"], "s5"), (dry["dry_run"], dry["removed"], dry["newest_intact"]))
        self.assertEqual(5, len(self.sets()))
        done = self.run_ok("prune", "--store", self.store, "--keep-last", "2", "--keep-every", "2")
        self.assertEqual("removed s1\nremoved s3\n2 sets removed, 3 kept\n", done.out)
        self.assertEqual(["s2", "s4", "s5"], self.sets())
        again = self.run_ok("prune", self.store, "--keep-last", "3", "--json").json
        self.assertEqual(([], None), (again["removed"], again["newest_intact"]))

    def test_diff(self):
        self.pack()
        self.assertEqual("", self.run_ok("diff", "DD0008", "latest", "--store", self.store).out)
        other = self.work / "DD0012"
        make_tree(other, shift=0.0)
        values = field(1)
        values[7] += 0.5
        (other / "dump.cpu0001.npy").write_bytes(npy_bytes(values, (48, 48)))
        (other / "new").write_text("x")
        (other / "sub" / "parameters.txt").unlink()
        self.pack(tree=other)
        answer = forebay("diff", "DD0008", "DD0012", "--store", self.store, "--json")
        self.assertEqual((DIFFERENT, ""), (answer.code, answer.err))
        by_name = {f["name"]: f for f in answer.json["files"]}
        self.assertEqual(("added", "removed", "bytes"),
                         tuple(by_name[n]["change"] for n in ("new", "sub/parameters.txt", "dump.cpu0001.npy")))
        (variable,) = by_name["dump.cpu0001.npy"]["variables"]
        self.assertEqual(1, variable["differing_element_count"])
        self.assertAlmostEqual(0.5, variable["max_absolute"])
        text = forebay("diff", f"{self.store}/DD0008", f"{self.store}/sets/DD0012/")
        self.assertEqual(DIFFERENT, text.code)
        self.assertRegex(text.out, r"(?m)^\* dump\.cpu0001\.npy\n    /.*: 1 differing element, by up to 0\.5$")
        self.assertRegex(text.out, r"(?m)^\+ new$")

    def test_diff_of_what_cannot_be_measured(self):
        def write(name, values, texts):
            tree = self.work / name
            make_tree(tree, shift=0.0)
            (tree / "dump.cpu0001.npy").write_bytes(npy_bytes(values, (3, 1)))
            (tree / "names.npy").write_bytes(npy_bytes([0.0], (1,)).replace(b"<f8", b"|V8")[:-8] + texts)
            self.pack(tree=tree)

        inf, nan = float("inf"), float("nan")
        write("DD0012", [1.0, nan, inf], b"some one")
        write("DD0013", [1.0, 2.0, 3.0], b"some two")
        text = forebay("diff", "DD0012", "DD0013", "--store", self.store)
        self.assertRegex(text.out, r"(?m)^    /data: 2 differing elements, 1 with NaN, 1 with an infinity$")
        self.assertRegex(text.out, r"(?m)^    /data: 1 differing element, not comparable as numbers$")
        files = forebay("diff", "DD0012", "DD0013", "--store", self.store, "--json").json["files"]
        (numbers,), (texts,) = (f["variables"] for f in files if f["variables"])
        self.assertEqual((True, 2, 1, 1, None), tuple(numbers[k] for k in (
            "comparable", "differing_element_count", "nan_count", "infinity_count", "max_absolute")))
        self.assertEqual((False, 1, None), tuple(texts[k] for k in (
            "comparable", "differing_element_count", "max_absolute")))

    def test_repair_of_an_intact_set_does_nothing(self):
        self.pack()
        self.assertEqual("DD0008: nothing to repair\n", self.run_ok("repair", self.store, "DD0008").out)
        self.assertIsNone(self.run_ok("repair", self.store, "DD0008", "--json").json["repaired_set"])
        self.assertEqual(["DD0008"], self.sets())

    def test_repair_of_a_lost_trailer(self):
        self.pack()
        container = self.containers()[0]
        os.truncate(container, container.stat().st_size - 40)
        answer = forebay("repair", self.store, "DD0008", "--as", "saved", "--json")
        self.assertEqual((OK, "saved", []), (answer.code, answer.json["repaired_set"], answer.json["lost_files"]), answer.out)
        self.run_ok("restore", "saved", "--store", self.store, "--to", self.work / "back")
        self.assertEqual(snapshot(self.tree), snapshot(self.work / "back"))

    def test_advise(self):
        text = self.run_ok("advise", self.tree, "--min-speed", "0.001").out
        self.assertRegex(text, r"SCHEME +BLOCK +GROUP +PROFILE +RATIO +IMPROVEMENT")
        reason, command = re.search(r"Recommended, as (.*):\n  (.*)", text).groups()
        self.assertEqual("it has the best ratio of those that encode at 0.001 MB/s or more (--min-speed)", reason)
        command = command.split()
        self.assertEqual(["forebay", "pack", str(self.tree), "--store", "STORE"], command[:5])
        command[4] = str(self.store)
        self.run_ok(*command[1:])
        none = self.run_ok("advise", self.tree, "--min-speed", "1e9", "--json").json
        self.assertIn("it is the fastest, and none encodes at 1e+09 MB/s or more", none["reason"])
        best = max(none["trials"], key=lambda trial: trial["ratio"])
        self.assertEqual(best["ratio"] > none["recommended"]["ratio"], f"has the better ratio of {best['ratio']:.2f}, at " in none["reason"])
        answer = self.run_ok("advise", self.tree, "--sample", "32K", "--json").json
        self.assertEqual((0, "agnostic", "gzip"), tuple(answer["trials"][0][k] for k in
                                                        ("improvement_percent", "scheme", "profile")))


class Plan(StoreTest):
    WORDS = "plan --nodes 8 --bytes 1G --interval 1m".split()

    def test_measures_a_sample_and_a_store(self):
        before = snapshot(self.tree)
        own = self.work / "tmp"
        own.mkdir()
        sample = self.run_ok(*self.WORDS, "--measure", self.tree, "--json", env={"TMPDIR": str(own)}).json
        self.assertEqual(([], before), (list(own.iterdir()), snapshot(self.tree)))
        self.assertGreater(sample["codec_bytes_per_second"], 1e5)
        packed = self.pack("--json").json
        self.assertAlmostEqual(packed["ratio"], sample["ratio"], delta=0.02 * packed["ratio"])
        before = snapshot(self.store)
        stored = self.run_ok(*self.WORDS, "--measure", self.store, "--pfs", "1G", "--pfs-stream", "8G", "--json").json
        self.assertEqual(before, snapshot(self.store))
        self.assertAlmostEqual(packed["ratio"], stored["ratio"], delta=0.03 * packed["ratio"])  # the manifest counts for pack
        self.assertIsNone(stored["codec_bytes_per_second"])
        self.assertEqual(8 * 2**30, stored["pfs_stream_bytes_per_second"])
        measured = self.run_ok(*self.WORDS, "--measure", self.store, "--json").json["pfs_stream_bytes_per_second"]
        self.assertTrue(measured is None or measured > 1e6, measured)  # None: no room for it
        self.assertAlmostEqual(8 / stored["ratio"], stored["rows"][0]["drain_seconds"])

    def test_what_is_given_goes_before_what_is_measured(self):
        plan = self.run_ok(*self.WORDS, "--measure", self.tree, "--ratio", "3", "--codec", "1G", "--json").json
        self.assertEqual((3, 2**30), (plan["ratio"], plan["codec_bytes_per_second"]))

    def test_compares_ways_to_keep_checkpoints(self):
        words = "--pfs 1G --peers 1G --stage 1G --node-mtbf 10d --severe 0 --json".split()
        ways = self.run_ok(*self.WORDS, *words).json["ways"]
        self.assertEqual(9, len(ways))
        self.assertEqual(("store only", None), (ways[0]["way"], ways[0]["scheme"]))
        for way in ways:
            self.assertTrue(0 < way["efficiency"] < 1 and way["interval_seconds"] > way["cost_seconds"] > 0, way)
        self.assertNotIn("ways", self.run_ok(*self.WORDS, "--pfs", "1G", "--json").json)

    def test_nothing_to_measure(self):
        self.run_error(NOT_FOUND, *self.WORDS, "--measure", self.work / "none")
        (self.work / "empty").mkdir()
        self.run_error(USAGE, *self.WORDS, "--measure", self.work / "empty")


class Talking(StoreTest):
    def test_version_and_help(self):
        text = self.run_ok("--version").out
        self.assertRegex(text, r"^forebay \d+\.\d+\.\d+\n")
        for word in ("formats: ", "codecs: ", "container format: 1", "MPI: "):
            self.assertIn(word, text)
        self.assertEqual(self.run_ok("help", "pack").out, self.run_ok("pack", "--help").out)
        self.assertEqual(self.run_ok("help").out, self.run_ok("--help").out)
        for line in self.run_ok("help", "pack").out.splitlines():
            self.assertLessEqual(len(line), 90, line)

    def test_hostile_names_are_shown_harmlessly_and_kept_in_json(self):
        evil = b"\x1b[31mred\nline\xff.npy"
        (self.tree / os.fsdecode(evil)).write_bytes(npy_bytes(field(9), (48, 48)))
        override = "right\u202eleft"
        (self.tree / override).write_bytes(b"x")
        self.pack()
        for words in (["ls", self.store, "DD0008"], ["ls", self.store, "DD0008", "-v"]):
            text = self.run_ok(*words).raw
            self.assertNotIn(b"\x1b", text)
            self.assertNotIn(b"\xff", text)
            self.assertIn(rb"\x1b[31mred\x0aline\xff.npy", text)
        names = [f["name"] for f in self.run_ok("ls", self.store, "DD0008", "--json").json["files"]]
        self.assertIn(override, names)
        (found,) = [n for n in names if isinstance(n, dict)]
        self.assertEqual(evil, base64.b64decode(found["base64"]))
        self.run_ok("restore", "DD0008", "--store", self.store, "--to", self.work / "back")
        self.assertEqual(snapshot(self.tree), snapshot(self.work / "back"))


@unittest.skipUnless(h5py, "no h5py")
class Hdf5(StoreTest):
    def test_counters_in_group_names(self):
        tree = self.work / "DD0099"
        tree.mkdir()
        for rank in range(4):
            with h5py.File(tree / f"data.cpu{rank:04}", "w") as file:
                for grid in range(2):
                    group = file.create_group(f"Grid{2 * rank + grid:08}")
                    group.create_dataset("Density", data=[[float(i + rank)] * 32 for i in range(32)])
        self.pack(tree=tree)
        groups = self.run_ok("info", self.store, "DD0099", "--groups", "--json").json["groups"]
        self.assertEqual([8], [g["variable_count"] for g in groups])
        self.run_ok("restore", "DD0099", "--store", self.store, "--to", self.work / "back")
        self.assertEqual(snapshot(tree), snapshot(self.work / "back"))
        path = "/Grid00000003/Density"
        answer = self.run_ok("extract", "DD0099", path, "--store", self.store, "--to", self.work / "d.npy", "--json").json
        self.assertEqual(("f8", [32, 32], 1), (answer["variables"][0]["type"], answer["variables"][0]["shape"],
                                                answer["variables"][0]["rank"]))


if __name__ == "__main__":
    main()
