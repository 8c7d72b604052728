#!/usr/bin/env python3
"""What the command does for people who mistype, repair, compare dumps, or pack many small files."""

import os
import struct

from support import DAMAGED, DIFFERENT, NOT_FOUND, USAGE, StoreTest, field, flip, forebay, main, npy_bytes, snapshot


class Hints(StoreTest):
    def test_version_as_json(self):
        text, json = self.run_ok("--version").out, self.run_ok("--version", "--json").json
        self.assertEqual(f"forebay {json['version']}", text.splitlines()[0])
        self.assertEqual("formats: " + " ".join(json["formats"]), text.splitlines()[1])
        self.assertEqual("codecs: " + " ".join(json["codecs"]), text.splitlines()[2])
        self.assertEqual((1, "MPI: yes" in text), (json["container_format"], json["mpi"]))
        self.assertIn(json["compiler"], text)

    def test_says_that_the_name_of_the_set_is_missing(self):
        self.pack()
        words = {"info": [], "repair": [], "restore": ["--to", self.work / "back"]}
        for verb, more in words.items():
            for typed in ([self.store], ["--store", self.store]):
                answer = self.run_error(USAGE, verb, *typed, *more)
                self.assertIn("the name of a set is missing ('forebay ls STORE' lists the sets)", answer.err)
            elsewhere = self.run_error(USAGE, verb, self.store, *more, env={"FOREBAY_STORE": str(self.work / "other")})
            self.assertIn("the name of a set is missing", elsewhere.err)
        for verb in ("info", "repair"):
            self.assertIn("there is no such file, and no store is given", self.run_error(USAGE, verb, "DD0008").err)
        self.assertIn("VARIABLE is missing", self.run_error(USAGE, "extract", "DD0008", "--store", self.store).err)

    def test_suggests_what_may_have_been_meant(self):
        for words, hint in (
            (["restor"], "(did you mean restore?)"),
            (["help", "verfy"], "(did you mean verify?)"),
            (["pack", self.tree, "--stor", self.store], "'--stor' is not an option of 'pack' (did you mean --store"),
            (["ls", "--strore=x"], "(did you mean --store"),
            (["pack", self.tree, "--store", self.store, "--profile", "balance"], "(did you mean balanced?)"),
            (["pack", self.tree, "--store", self.store, "--profile", "zsdt"], "(did you mean zstd?)"),
            (["pack", self.tree, "--store", self.store, "--profile", "shufle,zstd:3"], "'shufle' is not a codec (did you mean shuffle"),
            (["pack", self.tree, "--store", self.store, "--profile", "quickest"], "(profiles are none, gzip, paper, fast, balanced, max)"),
        ):
            self.assertIn(hint, self.run_error(USAGE, *words).err)


class Repaired(StoreTest):
    def test_ls_and_info_mark_what_was_repaired(self):
        self.pack("--group-size", "2")
        self.assertNotIn("NOTE", self.run_ok("ls", self.store).out)
        self.containers()[1].unlink()
        self.assertEqual(DAMAGED, forebay("repair", self.store, "DD0008").code)
        note = "repaired from DD0008, 1 container lost"
        lines = self.run_ok("ls", self.store).out.splitlines()
        self.assertTrue(lines[0].endswith("  NOTE"), lines)
        self.assertEqual([note], [line[-len(note):] for line in lines if line.startswith("DD0008-repaired ")])
        self.assertRegex(self.run_ok("info", self.store, "DD0008-repaired").out, f"(?m)^note +{note}$")
        sets = {s["name"]: s for s in self.run_ok("ls", self.store, "--json").json["sets"]}
        repaired, packed = sets["DD0008-repaired"], sets["DD0008"]
        self.assertEqual(("DD0008", 0, 1),
                         (repaired["repaired_from"], repaired["damaged_file_count"], len(repaired["lost_containers"])))
        self.assertEqual((None, 0, []), (packed["repaired_from"], packed["damaged_file_count"], packed["lost_containers"]))

    def test_repair_counts_the_files_that_it_could_not_save(self):
        self.pack("--group-size", "2")
        flip(self.containers()[0], self.frame_offset())
        answer = forebay("repair", self.store, "DD0008", "--json")
        lost = len(answer.json["lost_files"])
        self.assertTrue(lost > 0)
        self.assertRegex(self.run_ok("ls", self.store).out, rf"repaired from DD0008, {lost} files? damaged")

    def frame_offset(self):
        """Where the payload of the first frame of the first container lies: after the file's header and the head."""
        data = self.containers()[0].read_bytes()
        meta, payload = struct.unpack_from("<IQ", data, 16 + 20)
        frame = 16 + 56 + meta + payload
        return frame + 56 + struct.unpack_from("<I", data, frame + 20)[0]


class NoArrays(StoreTest):
    """Sets of files that no reader knows, as most codes write them."""

    def setUp(self):
        super().setUp()
        for i in range(3):
            (self.work / "run").mkdir(exist_ok=True)
            (self.work / f"run/melt.restart.{i}00").write_bytes(b"LammpS RestartT\0" + bytes(range(256)) * 4)
        (self.work / "run/melt.dump").write_text("ITEM: TIMESTEP\n0\n" * 2000)
        self.run_ok("pack", self.work / "run", "--store", self.store, "--name", "melt")

    WHY = "no file of melt has arrays in a format that Forebay reads (netcdf, npy, npz, safetensors, openfoam, fab, lammps, trr, fortran, hdf5)"  # fmt: skip
    KINDS = [("text", 1, "melt.dump"), ("a restart file of LAMMPS", 3, "melt.restart.000")]

    def test_are_described_instead_of_an_empty_table(self):
        for words in (["read"], ["ls", "melt", "--variables"]):
            text = self.run_ok(*words, "--store", self.store).out
            self.assertIn(self.WHY, text)
            self.assertRegex(text, r"(?m)^ +3 .* a restart file of LAMMPS +melt.restart.\d00$")
            self.assertRegex(text, r"(?m)^ +1 .* text +melt.dump$")
            kinds = self.run_ok(*words, "--store", self.store, "--json").json["files_without_arrays"]
            self.assertEqual(self.KINDS, [(k["looks_like"], k["file_count"], k["example"]) for k in kinds])
        self.assertIn("there are no variable groups", self.run_ok("info", self.store, "melt", "--groups").out)

    def test_are_described_on_a_page(self):
        answer = self.run_ok("report", self.store, "--to", self.work / "page")
        self.assertIn(self.WHY, answer.out)
        page = (self.work / "page/index.html").read_text()
        self.assertIn("no file of melt has variables in a format that Forebay reads", page)
        self.assertIn("a restart file of LAMMPS", page)

    def test_are_the_reason_why_an_array_is_not_found(self):
        for words in (["read", self.store, "x"], ["query", self.store, "x > 1"], ["extract", "melt", "x", "--store", self.store],
                      ["convert", self.store, "x", "--to", self.work / "x.npy"], ["convert", self.store, "--to", self.work / "x.h5"]):  # fmt: skip
            answer = self.run_error(NOT_FOUND, *words)
            self.assertIn(self.WHY + "; melt.dump looks like text, 3 files such as melt.restart.000 look like a restart file", answer.err)  # fmt: skip

    def test_a_set_is_no_array(self):
        self.pack("--series", "other")
        for series in ([], ["--series", "default"]):  # the store has two
            for words in (["read", self.store, "melt"], ["convert", self.store, "melt", "--to", self.work / "x.npy"], ["query", self.store, "melt"]):
                answer = forebay(*words, *series)
                self.assertIn(answer.code, (USAGE, NOT_FOUND))
                self.assertIn("melt is a set, not an array ('forebay read STORE --set melt' lists its arrays", answer.err)

    def test_a_set_that_has_arrays_is_listed_as_ever(self):
        self.pack("--name", "arrays")
        self.assertEqual([], self.run_ok("read", self.store, "--json").json["files_without_arrays"])
        self.assertNotIn("in a format that Forebay reads", self.run_error(NOT_FOUND, "read", self.store, "x").err)


class Tiny(StoreTest):
    def test_percentages_and_ratios_of_hardly_any_content_are_words(self):
        for name, content in (("none", b""), ("one", b"x")):
            (self.work / name).mkdir()
            (self.work / name / "file").write_bytes(content)
            packed = self.run_ok("pack", self.work / name, "--store", self.store, "--name", name).out
            info = self.run_ok("info", self.store, name).out
            listed = self.run_ok("ls", self.store).out
            self.assertIn({"none": "(of no content)", "one": "(more than the content)"}[name], info)
            self.assertNotIn("%", info)
            for text in (packed, info, listed):
                self.assertNotRegex(text, r"\b0\.00\b(?! s)|nan|inf\b")
            self.assertIn({"none": "ratio -", "one": "ratio <0.01"}[name], packed)
        self.run_ok("report", self.store, "--to", self.work / "page")
        self.assertNotIn("ratio 0.00", (self.work / "page/index.html").read_text())


class Dumps(StoreTest):
    def test_diff_of_two_dumps_whose_names_are_in_those_of_their_files(self):
        for number, step in ((2, 0.0), (10, 0.25)):
            tree = self.work / f"DD{number:04}"
            tree.mkdir()
            (tree / tree.name).write_text(f"InitialTime = {step}\n")
            (tree / f"{tree.name}.boundary").write_text("periodic\n")
            os.utime(tree / f"{tree.name}.boundary", (1, 1))
            for rank in range(3):
                values = [value + step * (rank == 1) for value in field(rank)]
                (tree / f"{tree.name}.cpu{rank:04}.npy").write_bytes(npy_bytes(values, (48, 48)))
            self.pack(tree=tree)
        answer = forebay("diff", "DD0002", "DD0010", "--store", self.store)
        self.assertEqual((DIFFERENT, ""), (answer.code, answer.err))
        self.assertEqual(["* DD0002 -> DD0010", "~ DD0002.boundary -> DD0010.boundary"],
                         [line for line in answer.out.splitlines() if "cpu" not in line and line[0] != " "])
        self.assertRegex(answer.out, r"(?m)^\* DD0002\.cpu0001\.npy -> DD0010\.cpu0001\.npy\n    /.*: 2304 differing elements, by")
        self.assertRegex(answer.out, r"(?m)^~ DD0002\.cpu0000\.npy -> DD0010\.cpu0000\.npy$")
        files = forebay("diff", "DD0002", "DD0010", "--store", self.store, "--json").json["files"]
        self.assertEqual({"bytes", "metadata"}, {file["change"] for file in files})
        self.assertEqual({file["name"].replace("DD0002", "DD0010") for file in files}, {file["other_name"] for file in files})


class SmallFiles(StoreTest):
    def test_small_files_share_containers(self):
        """Numbered or not, hundreds of small files are one container, with which all else goes on as ever."""
        for kind, name_of in (("numbered", "part{:04}".format), ("unnumbered", lambda i: f"part-{chr(97 + i // 26)}{chr(97 + i % 26)}")):
            tree = self.work / kind
            tree.mkdir()
            for i in range(300):
                (tree / f"{name_of(i)}.npy").write_bytes(npy_bytes(field(i, 8), (8, 8)))
            packed = self.pack("--json", tree=tree).json
            self.assertEqual((300, 1), (packed["rank_count"], packed["container_count"]))
            self.assertEqual(5, self.pack("--name", f"{kind}-64", "--group-size", "64", "--json", tree=tree).json["container_count"])
            self.run_ok("restore", kind, "--store", self.store, "--to", self.work / f"{kind}-back")
            self.assertEqual(snapshot(tree), snapshot(self.work / f"{kind}-back"))
            (tree / "log").write_text("more\n")
            again = self.pack("--name", f"{kind}-again", "--parent", kind, "--json", tree=tree).json
            self.assertEqual([kind], [base["name"] for base in again["parents"]])
            self.run_ok("verify", self.store, f"{kind}-again")
            extracted = self.run_ok("extract", kind, "/data", "--store", self.store, "--rank", "200", "--to", "-")
            self.assertEqual(npy_bytes(field(200, 8), (8, 8))[-512:], extracted.raw[-512:])
            container = self.containers(kind)[0]
            os.truncate(container, container.stat().st_size - 40)
            self.run_ok("repair", self.store, kind)
            self.run_ok("restore", f"{kind}-repaired", "--store", self.store, "--to", self.work / f"{kind}-repaired")
            self.assertEqual(snapshot(self.work / f"{kind}-back"), snapshot(self.work / f"{kind}-repaired"))


if __name__ == "__main__":
    main()
