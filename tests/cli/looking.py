#!/usr/bin/env python3
"""ls, info, verify and extract on small sets: what they print, and their JSON."""

import os
import struct
import subprocess
from pathlib import Path

from support import COMMAND, EXISTS, NOT_FOUND, USAGE, StoreTest, environment, field, main, npy_bytes, snapshot


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
        self.assertEqual((0o640, 140, "2009-02-13T23:31:30.123456789Z"), (log["mode"], log["raw_bytes"], log["mtime"]))
        self.assertEqual("run.log", by_name["latest.log"]["link_target"])
        self.assertEqual([0, 1, 2, 3], [by_name[f"dump.cpu{r:04}.npy"]["rank"] for r in range(4)])
        text = self.run_ok("ls", self.store, "DD0008").out
        self.assertRegex(text, r"(?m)^ +0 +rw-r----- +140 B .* 2009-02-13 23:31:30 .* run\.log$")
        self.assertRegex(text, r"(?m)latest\.log -> run\.log$")
        self.assertRegex(text, r"(?m) sub/$")

    def test_ls_variables(self):
        files = self.run_ok("ls", self.store, "latest", "--variables", "--json").json["files"]
        (variable,) = next(f for f in files if f["name"] == "dump.cpu0001.npy")["variables"]
        self.assertEqual(("f8", [48, 48], 48 * 48 * 8), tuple(variable[k] for k in ("type", "shape", "raw_bytes")))
        values = field(1)
        found = variable["characteristics"]
        self.assertEqual((len(values), min(values), max(values), 0, 0),
                         tuple(found[k] for k in ("value_count", "min", "max", "nan_count", "infinity_count")))
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
        self.assertEqual(("f8", 4, 4 * 48 * 48 * 8), tuple(first[k] for k in ("type", "variable_count", "raw_bytes")))
        self.assertGreaterEqual(first["frame_count"], 2)
        self.assertTrue(first["chains"])
        self.assertIn(first["key"], self.run_ok("info", self.store, "DD0008", "-g").out)

    def test_info_of_a_file_of_process_groups(self):
        path = Path(__file__).resolve().parents[1] / "golden" / "v1-groups.fbc"
        answer = self.run_ok("info", path, "--json").json
        self.assertEqual((answer["step_count"], answer["process_group_count"], answer["rank_count"], answer["unfinished"]), (3, 6, 2, False))
        field = next(v for v in answer["variables"] if v["name"] == "field")
        self.assertEqual((field["shape"], field["global"], field["min"], field["max"]), ([4, 12], True, 0, 113.5))
        self.assertEqual([a["value"] for a in answer["attributes"]], ["someone", None])
        torn = self.work / "torn.bp"
        torn.write_bytes(path.read_bytes()[:-1])
        self.assertEqual(self.run_ok("info", torn, "--json").json["step_count"], 2)
        self.assertIn("never finished", self.run_ok("info", torn).out)
        self.assertIn("process groups", self.run_error(USAGE, "info", path, "--groups").err)
        mended = self.run_ok("repair", torn, "--json").json
        self.assertEqual((mended["step_count"], mended["found_process_group_count"], mended["lost_process_group_count"]), (3, 2, 0))
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
        self.assertEqual(["DD0008"], [s["name"] for s in answer["sets"]])

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
        self.path = next(f for f in files if f["format"] == "npy")["variables"][0]["name"]

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

    def test_an_array_in_fortran_order_is_what_numpy_sees(self):
        turned = npy_bytes([0.0, 3.0, 1.0, 4.0, 2.0, 5.0], (2, 3)).replace(b"order': False,", b"order': True, ")
        tree = self.work / "turned"
        tree.mkdir()
        (tree / "t.npy").write_bytes(turned)
        self.pack(tree=tree)
        back, row = self.work / "back.npy", self.work / "row.npy"
        self.run_ok("extract", "turned", "/data", "--store", self.store, "--to", back)
        self.assertEqual((turned[128:], b"True", b"(2, 3)"),
                         (back.read_bytes()[128:], *(w for w in (b"True", b"(2, 3)") if w in back.read_bytes())))
        self.run_ok("extract", "turned", "/data", "--store", self.store, "--box", "1:2,:", "--to", row)
        self.assertEqual((3.0, 4.0, 5.0), struct.unpack("<3d", row.read_bytes()[128:]))
        self.assertIn(b"(1, 3)", row.read_bytes())
        self.run_ok("read", self.store, "data", "--to", back, "--overwrite")
        self.assertEqual(npy_bytes([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], (2, 3)), back.read_bytes())

    def test_to_standard_output(self):
        answer = self.run_ok("extract", "latest", self.path, "--store", self.store, "--rank", "3", "--to", "-")
        self.assertEqual(npy_bytes(field(3), (48, 48)), answer.raw)

    def test_a_box(self):
        rows = [field(2)[48 * i : 48 * (i + 1)] for i in range(48)]
        words = ("extract", "latest", self.path, "--store", self.store, "--rank", "2")
        target = self.work / "box.npy"
        answer = self.run_ok(*words, "--box", "3:40,5", "--to", target, "--json").json["variables"][0]
        self.assertEqual(([37, 1], [3, 5], 296), (answer["shape"], answer["begin"], answer["raw_bytes"]))
        self.assertEqual(npy_bytes([row[5] for row in rows[3:40]], (37, 1)), target.read_bytes())
        printed = self.run_ok(*words, "--box", ":,40:", "--to", "-").raw
        self.assertEqual(npy_bytes([value for row in rows for value in row[40:]], (48, 8)), printed)
        self.assertEqual(printed, self.run_ok(*words, "--box", ":,-8:", "--to", "-").raw)
        for box, part in (("48:49,:", "48:49 in dimension 0"), ("0:4", "48x48"), ("4:2,:", "4:2 in dimension 0"), ("x", "--box"), ("::2,:", "steps")):
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


if __name__ == "__main__":
    main()
