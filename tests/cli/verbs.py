#!/usr/bin/env python3
"""Each verb on small sets: what it does, what it prints, and its JSON."""

import base64
import os
import shutil
import struct
import subprocess
import unittest
from pathlib import Path

from support import COMMAND, DIFFERENT, EXISTS, NOT_FOUND, OK, UNSUPPORTED, USAGE, StoreTest, environment, field, forebay, main
from support import make_tree, npy_bytes, snapshot

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
        self.assertEqual(("t100", -7, 4, 2), tuple(packed[k] for k in ("set", "step", "ranks", "containers")))
        (entry,) = self.run_ok("ls", self.store, "--json").json["sets"]
        self.assertEqual(("gzip", "aware-block", 2), tuple(entry[k] for k in ("profile", "scheme", "group_size")))
        container = self.run_ok("info", self.store, "t100", "--json").json["containers"][0]
        self.assertEqual(("aware-block", 1024), (container["scheme"], container["block_bytes"]))

    @unittest.skipUnless(HAS_ZFP, "this build lacks zfp")
    def test_lossy(self):
        packed = self.pack("--lossy", "/da*a=abs:1e-3", "--json").json
        (rule,) = packed["lossy"]
        self.assertEqual(("/da*a=abs:1e-3", "abs", 1e-3, 4, 4), tuple(
            rule[k] for k in ("rule", "kind", "bound", "variables", "lossy_variables")))
        self.assertTrue(0 < rule["max_error"] < 1e-3)
        self.run_ok("verify", self.store)
        self.run_ok("restore", "DD0008", "--store", self.store, "--to", self.work / "back")
        before, after = snapshot(self.tree), snapshot(self.work / "back")
        self.assertEqual(before.keys(), after.keys())
        for name in before:
            same = before[name] == after[name]
            self.assertEqual(not name.endswith(b".npy"), same, name)
        listed = self.run_ok("ls", self.store, "DD0008", "-v", "--json").json
        self.assertEqual(["/da*a=abs:1e-3"], listed["set"]["lossy"])
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

    def test_latest_is_the_highest_step(self):
        make_tree(self.work / "DD0012", shift=1)
        self.pack(tree=self.work / "DD0012")
        self.pack()
        answer = self.run_ok("restore", "latest", "--store", self.store, "--to", self.work / "back", "--json").json
        self.assertEqual(("DD0012", []), (answer["set"], answer["skipped"]))

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
        self.assertEqual(3, packed.json["variables"])

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


class Looking(StoreTest):
    def setUp(self):
        super().setUp()
        self.pack("--group-size", "2")

    def test_ls_store(self):
        lines = self.run_ok("ls", self.store).out.splitlines()
        self.assertRegex(lines[0], r"^NAME +SERIES +STEP +CREATED +RANKS +FILES +SIZE +STORED +RATIO +PROFILE +SCHEME +PARENTS$")
        self.assertRegex(lines[1], r"^DD0008 +default +8 +20\d\d-\d\d-\d\d \d\d:\d\d:\d\d +4 ")
        self.assertEqual(lines, self.run_ok("ls", "--store", self.store).out.splitlines())
        self.assertEqual(lines, self.run_ok("ls", env={"FOREBAY_STORE": str(self.store)}).out.splitlines())

    def test_ls_set(self):
        by_name = {f["name"]: f for f in self.run_ok("ls", self.store, "DD0008", "--json").json["files"]}
        self.assertEqual({os.fsdecode(n) for n in snapshot(self.tree)}, set(by_name))
        log = by_name["run.log"]
        self.assertEqual((0o640, 140, "2009-02-13T23:31:30.123456789Z"), (log["mode"], log["size"], log["mtime"]))
        self.assertEqual("run.log", by_name["latest.log"]["link_target"])
        self.assertEqual([0, 1, 2, 3], [by_name[f"dump.cpu{r:04}.npy"]["rank"] for r in range(4)])
        text = self.run_ok("ls", self.store, "DD0008").out
        self.assertRegex(text, r"(?m)^ +0 +rw-r----- +140 B .* 2009-02-13 23:31:30 .* run\.log$")
        self.assertRegex(text, r"(?m)latest\.log -> run\.log$")
        self.assertRegex(text, r"(?m) sub/$")

    def test_ls_variables(self):
        files = self.run_ok("ls", self.store, "latest", "--variables", "--json").json["files"]
        (variable,) = next(f for f in files if f["name"] == "dump.cpu0001.npy")["variables"]
        self.assertEqual(("f8", [48, 48], 48 * 48 * 8), tuple(variable[k] for k in ("type", "shape", "bytes")))
        values = field(1)
        found = variable["characteristics"]
        self.assertEqual((len(values), min(values), max(values), 0, 0),
                         tuple(found[k] for k in ("count", "min", "max", "nans", "infinities")))
        self.assertAlmostEqual(sum(values), found["sum"], places=9)
        self.assertGreater(variable["ratio"], 1)
        self.assertRegex(self.run_ok("ls", self.store, "latest", "-v").out, r"(?m)^ +1 +f8 +48x48 +18\.0 KiB +\d+\.\d\d ")

    def test_stored_bytes_add_up(self):
        files = self.run_ok("ls", self.store, "DD0008", "--json").json["files"]
        info = self.run_ok("info", self.store, "DD0008", "--json").json["containers"]
        payload = sum(c["stored_bytes"] - c["index_bytes"] for c in info)
        self.assertAlmostEqual(payload, sum(f["stored_bytes"] for f in files), places=3)
        self.assertEqual(payload, sum(chain["stored_bytes"] for c in info for chain in c["chains"]))

    def test_info_groups(self):
        answer = self.run_ok("info", self.store, "DD0008", "--groups", "--json").json
        self.assertEqual(2, len(answer["containers"]))
        first = answer["groups"][0]
        self.assertEqual(("f8", 4, 4 * 48 * 48 * 8), tuple(first[k] for k in ("type", "variables", "bytes")))
        self.assertGreaterEqual(first["frames"], 2)
        self.assertTrue(first["chains"])
        self.assertIn(first["key"], self.run_ok("info", self.store, "DD0008", "-g").out)

    def test_info_of_a_file_of_process_groups(self):
        path = Path(__file__).resolve().parents[1] / "golden" / "v1-groups.fbc"
        answer = self.run_ok("info", path, "--json").json
        self.assertEqual((answer["steps"], answer["process_groups"], answer["ranks"], answer["unfinished"]), (3, 6, 2, False))
        field = next(v for v in answer["variables"] if v["name"] == "field")
        self.assertEqual((field["shape"], field["global"], field["min"], field["max"]), ([4, 12], True, 0, 113.5))
        self.assertEqual([a["value"] for a in answer["attributes"]], ["someone", None])
        torn = self.work / "torn.bp"
        torn.write_bytes(path.read_bytes()[:-1])
        self.assertEqual(self.run_ok("info", torn, "--json").json["steps"], 2)
        self.assertIn("never finished", self.run_ok("info", torn).out)
        self.assertIn("process groups", self.run_error(USAGE, "info", path, "--groups").err)
        mended = self.run_ok("repair", torn, "--json").json
        self.assertEqual((mended["steps"], mended["process_groups_found"], mended["process_groups_lost"]), (3, 2, 0))
        self.assertFalse(self.run_ok("info", torn, "--json").json["unfinished"])

    def test_info_of_a_container(self):
        path = self.containers()[0]
        text = self.run_ok("info", path).out
        self.assertIn(str(path), text)
        self.assertIsNone(self.run_ok("info", path, "--json").json["set"])

    def test_agnostic_sets_can_be_looked_at(self):
        self.pack("--name", "plain", "--scheme", "agnostic")
        for words in (["ls", self.store, "plain", "-v"], ["info", self.store, "plain", "--groups"]):
            self.run_ok(*words)
            self.run_ok(*words, "--json").json

    def test_verify(self):
        self.assertRegex(self.run_ok("verify", self.store).out, r"^DD0008: intact, ")
        answer = self.run_ok("verify", self.store, "DD0008", "--json").json
        self.assertTrue(answer["intact"])
        self.assertEqual(["DD0008"], [s["set"] for s in answer["sets"]])

    def test_store_is_found_in_all_forms(self):
        env = {"FOREBAY_STORE": str(self.store)}
        for words in (["ls", "DD0008"], ["verify", "DD0008"], ["info", "DD0008"], ["verify"], ["ls", self.store],
                      ["ls", self.store, "DD0008"], ["extract", "DD0008", "*", "--rank", "0", "--to", self.work / "x"]):
            self.run_ok(*words, env=env)
        # A directory of the set's name, as there usually is one, is not taken for a store.
        self.run_ok("ls", "DD0008", env=env, cwd=self.work)
        self.run_ok("restore", self.store, "DD0008", "--to", self.work / "back")

    def test_a_closed_pipe_is_no_error(self):
        done = subprocess.run(["bash", "-c", '"$0" ls "$1" DD0008 -v | true; "$0" ls "$1" DD0008 | head -1', COMMAND,
                               self.store], capture_output=True, text=True, env=environment())
        self.assertEqual("", done.stderr)


class Extract(StoreTest):
    def setUp(self):
        super().setUp()
        self.pack()
        files = self.run_ok("ls", self.store, "DD0008", "-v", "--json").json["files"]
        self.path = next(f for f in files if f["format"] == "npy")["variables"][0]["path"]

    def test_one_rank_to_a_file(self):
        target = self.work / "one.npy"
        self.run_ok("extract", "DD0008", self.path, "--store", self.store, "--rank", "2", "--to", target)
        self.assertEqual(npy_bytes(field(2), (48, 48)), target.read_bytes())
        self.run_error(EXISTS, "extract", "DD0008", self.path, "--store", self.store, "--rank", "1", "--to", target)
        self.assertEqual(npy_bytes(field(2), (48, 48)), target.read_bytes())
        self.run_ok("extract", "DD0008", self.path, "--store", self.store, "--rank", "1", "--to", target, "--overwrite")
        self.assertEqual(npy_bytes(field(1), (48, 48)), target.read_bytes())
        self.assertEqual(["one.npy"], [p.name for p in self.work.glob("one*")])

    def test_all_ranks_to_a_directory(self):
        answer = self.run_ok("extract", "latest", self.path, "--store", self.store, "--to", self.work / "out", "--json")
        variables = answer.json["variables"]
        self.assertEqual([0, 1, 2, 3], [v["rank"] for v in variables])
        for variable in variables:
            with open(variable["to"], "rb") as file:
                self.assertEqual(npy_bytes(field(variable["rank"]), (48, 48)), file.read())

    def test_to_standard_output(self):
        answer = self.run_ok("extract", "latest", self.path, "--store", self.store, "--rank", "3", "--to", "-")
        self.assertEqual(npy_bytes(field(3), (48, 48)), answer.raw)

    def test_a_box(self):
        rows = [field(2)[48 * i : 48 * (i + 1)] for i in range(48)]
        words = ("extract", "latest", self.path, "--store", self.store, "--rank", "2")
        target = self.work / "box.npy"
        answer = self.run_ok(*words, "--box", "3:40,5", "--to", target, "--json").json["variables"][0]
        self.assertEqual(([37, 1], [3, 5], 296), (answer["shape"], answer["begin"], answer["bytes"]))
        self.assertEqual(npy_bytes([row[5] for row in rows[3:40]], (37, 1)), target.read_bytes())
        printed = self.run_ok(*words, "--box", ":,40:", "--to", "-").raw
        self.assertEqual(npy_bytes([value for row in rows for value in row[40:]], (48, 8)), printed)
        for box, part in (("0:49,:", "0:49 in dimension 0"), ("0:4", "48x48"), ("4:2,:", "holds no index"), ("x", "--box")):
            error = self.run_error(USAGE, *words, "--box", box, "--to", "-")
            self.assertIn(part, error.err)
            self.assertEqual("", error.out)

    def test_to_the_current_directory(self):
        (self.work / "here").mkdir()
        self.run_ok("extract", "latest", self.path, "--store", self.store, cwd=self.work / "here")
        self.assertEqual(4, len(list((self.work / "here").iterdir())))

    def test_what_does_not_fit(self):
        self.run_error(USAGE, "extract", "latest", self.path, "--store", self.store, "--to", self.work / "x.npy")
        self.run_error(NOT_FOUND, "extract", "latest", "/none", "--store", self.store)
        self.run_error(NOT_FOUND, "extract", "latest", self.path, "--store", self.store, "--rank", "99")


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
        self.assertEqual(1, variable["differing_elements"])
        self.assertAlmostEqual(0.5, variable["max_absolute"])
        text = forebay("diff", f"{self.store}/DD0008", f"{self.store}/sets/DD0012/")
        self.assertEqual(DIFFERENT, text.code)
        self.assertRegex(text.out, r"(?m)^\* dump\.cpu0001\.npy\n    /.*: 1 differing element, by up to 0\.5$")
        self.assertRegex(text.out, r"(?m)^\+ new$")

    def test_repair_of_an_intact_set_does_nothing(self):
        self.pack()
        self.assertEqual("DD0008: nothing to repair\n", self.run_ok("repair", self.store, "DD0008").out)
        self.assertIsNone(self.run_ok("repair", self.store, "DD0008", "--json").json["written"])
        self.assertEqual(["DD0008"], self.sets())

    def test_repair_of_a_lost_trailer(self):
        self.pack()
        container = self.containers()[0]
        os.truncate(container, container.stat().st_size - 40)
        answer = forebay("repair", self.store, "DD0008", "--as", "saved", "--json")
        self.assertEqual((OK, "saved", []), (answer.code, answer.json["written"], answer.json["lost_files"]), answer.out)
        self.run_ok("restore", "saved", "--store", self.store, "--to", self.work / "back")
        self.assertEqual(snapshot(self.tree), snapshot(self.work / "back"))

    def test_advise(self):
        text = self.run_ok("advise", self.tree, "--min-speed", "0.001").out
        self.assertRegex(text, r"SCHEME +BLOCK +GROUP +PROFILE +RATIO +IMPROVEMENT")
        command = text.split("Recommended:\n  ")[1].split()
        self.assertEqual(["forebay", "pack", str(self.tree), "--store", "STORE"], command[:5])
        command[4] = str(self.store)
        self.run_ok(*command[1:])
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
        stored = self.run_ok(*self.WORDS, "--measure", self.store, "--pfs", "1G", "--json").json
        self.assertAlmostEqual(packed["ratio"], stored["ratio"], delta=0.03 * packed["ratio"])  # the manifest counts for pack
        self.assertIsNone(stored["codec_bytes_per_second"])
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
        self.assertEqual([8], [g["variables"] for g in groups])
        self.run_ok("restore", "DD0099", "--store", self.store, "--to", self.work / "back")
        self.assertEqual(snapshot(tree), snapshot(self.work / "back"))
        path = "/Grid00000003/Density"
        answer = self.run_ok("extract", "DD0099", path, "--store", self.store, "--to", self.work / "d.npy", "--json").json
        self.assertEqual(("f8", [32, 32], 1), (answer["variables"][0]["type"], answer["variables"][0]["shape"],
                                                answer["variables"][0]["rank"]))


if __name__ == "__main__":
    main()
