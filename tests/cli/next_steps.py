#!/usr/bin/env python3
"""What the command says of a mistake or of damage: the thing, the cause, and the next step, with the right exit code."""

import os
import shutil

from support import DAMAGED, EXISTS, NOT_FOUND, OK, USAGE, StoreTest, field, flip, forebay, main, npy_bytes

CANNOT_EXECUTE, NO_PROGRAM = 126, 127


class Damage(StoreTest):
    def setUp(self):
        super().setUp()
        self.pack()

    def restore(self, *words):
        return self.run_error(DAMAGED, "restore", "DD0008", "--store", self.store, "--to", self.work / "back", *words)

    def test_of_a_manifest_leads_to_a_repair_that_works(self):
        manifest = self.store / "sets/DD0008/manifest"
        whole = manifest.read_bytes()
        for content in (whole[:len(whole) // 2], b"", whole.replace(b"balanced", b"balancer"), None):
            manifest.write_bytes(content) if content is not None else manifest.unlink()
            hint = f"`forebay repair {self.store} DD0008` saves what the containers have"
            self.assertIn(hint, self.restore().err)
            self.assertIn(hint, forebay("ls", self.store).err)
        forebay("repair", self.store, "DD0008")
        self.run_ok("restore", "DD0008-repaired", "--store", self.store, "--to", self.work / "back")

    def test_of_a_frame_or_a_container(self):
        container = self.containers()[0]
        hint = f"`forebay verify {self.store} DD0008` names all that is damaged"
        flip(container, container.stat().st_size // 3)
        self.assertIn(hint, self.restore().err)
        answer = forebay("verify", self.store)
        self.assertEqual(DAMAGED, answer.code)
        self.assertIn(f"'forebay repair {self.store} DD0008' makes a new set", answer.out.splitlines()[-1])
        container.unlink()
        self.assertIn(hint, self.restore().err)

    def test_of_a_parent(self):
        self.pack("--name", "child", "--parent", "DD0008")
        shutil.rmtree(self.store / "sets/DD0008")
        answer = self.run_error(DAMAGED, "restore", "child", "--store", self.store, "--to", self.work / "back")
        self.assertIn(f"`forebay verify {self.store} child` names all that is damaged", answer.err)

    def test_prune_tells_what_it_does_not_look_at(self):
        self.assertIn("Older sets are not", self.run_ok("prune", "--help").out)


class Places(StoreTest):
    def test_a_file_that_is_no_container(self):
        file = self.tree / "run.log"
        answer = self.run_error(USAGE, "info", file)
        self.assertIn(f"{file}: this file is no container of a set (give a store and the name of a set", answer.err)
        self.pack()
        flip(self.containers()[0], 0)
        self.assertIn("`forebay repair STORE NAME` rebuilds", self.run_error(DAMAGED, "info", self.containers()[0]).err)

    def test_a_file_where_a_directory_should_be(self):
        self.pack()
        file = self.work / "file"
        file.write_text("")
        for place in (file, file / "below"):
            answer = self.run_error(EXISTS, "restore", "DD0008", "--store", self.store, "--to", place)
            self.assertRegex(answer.err, rf"{place}: .*a file is .* \(restore into another directory\)")
            self.run_error(EXISTS, "restore", "DD0008", "--store", self.store, "--to", place, "--overwrite")
            answer = self.run_error(EXISTS, "pack", self.tree, "--store", place)
            self.assertRegex(answer.err, rf"{place}: .*a file is .* \(name another directory with --store\)")
        self.assertIn("no store, but a file", self.run_error(NOT_FOUND, "ls", file).err)
        self.assertEqual("", file.read_text())

    def test_a_directory_above_that_is_not_there(self):
        self.pack()
        for words in (("restore", "DD0008", "--to", self.work / "no/such"), ("extract", "DD0008", "*", "--to", self.work / "no/such"),
                      ("extract", "DD0008", "/Grid*/Density", "--rank", "0", "--to", self.work / "no/such.npy")):
            answer = forebay(*words, "--store", self.store)
            if "no variable" not in answer.err and "variables match" not in answer.err:
                self.assertEqual(NOT_FOUND, answer.code, answer.err)
                self.assertIn("that it should lie in is not there (make that one first, with 'mkdir -p')", answer.err)
        answer = self.run_error(NOT_FOUND, "pack", self.work / "none", "--store", self.store)
        self.assertIn(f"{self.work / 'none'}: there is no such directory or file", answer.err)

    def test_a_store_that_lost_its_file(self):
        self.pack()
        (self.store / "forebay-store").rename(self.work / "kept")
        for code, *words in ((NOT_FOUND, "ls", self.store), (USAGE, "pack", self.tree, "--store", self.store)):
            answer = self.run_error(code, *words)
            self.assertIn("lacks its file forebay-store (copy that file from any other store", answer.err)
        findings = [f for f in forebay("doctor", self.store, "--json").json["findings"] if f["verdict"] == "stop"]
        self.assertEqual(["this store lacks its file forebay-store"], [f["message"] for f in findings])
        self.assertIn("from any other store", findings[0]["change"])
        self.run_ok("pack", self.tree, "--store", self.work / "other")
        shutil.copy(self.work / "other/forebay-store", self.store)
        self.run_ok("verify", self.store)

    def test_a_directory_that_is_no_store(self):
        answer = self.run_error(NOT_FOUND, "ls", self.tree)
        self.assertIn("this directory is no store: it has no file forebay-store (is the path right?", answer.err)
        found = [f for f in forebay("doctor", self.tree, "--json").json["findings"] if f["verdict"] == "stop"][0]
        self.assertEqual("this directory is no store, and has other files", found["message"])


class Words(StoreTest):
    def test_a_series_that_is_not_there(self):
        self.pack("--series", "sedov")
        answer = self.run_error(NOT_FOUND, "ls", self.store, "--series", "sedof")
        self.assertIn("did you mean sedov?", answer.err)
        self.assertIn("DD0008", self.run_ok("ls", self.store, "--series", "sedov").out)

    def test_too_many_words(self):
        self.assertIn("(--help lists the arguments", self.run_error(USAGE, "ls", self.store, "a", "b", "c").err)

    def test_a_directory_whose_name_no_set_can_have(self):
        self.tree.rename(self.work / "latest")
        answer = self.run_error(USAGE, "pack", self.work / "latest", "--store", self.store)
        self.assertIn("latest: the name of the directory cannot be that of a set (give the set a name with --name", answer.err)
        self.run_ok("pack", self.work / "latest", "--store", self.store, "--name", "ab")

    def test_names_as_codes_give_them(self):
        name = "wrfrst d01_2005-08-28_12:00:00 \u00e9tat"
        self.tree.rename(self.work / name)
        self.run_ok("pack", self.work / name, "--store", self.store)
        self.assertIn(name, self.run_ok("ls", self.store).out)
        self.assertEqual([name], [one["name"] for one in self.run_ok("ls", self.store, "--json").json["sets"]])
        for word in (name, "latest"):
            target = self.work / f"back of {word}"
            self.run_ok("restore", word, "--store", self.store, "--to", target)
            self.assertEqual(sorted(p.name for p in (self.work / name).iterdir()), sorted(p.name for p in target.iterdir()))
        self.run_ok("verify", self.store, name)
        self.run_ok("pack", self.work / name, "--store", self.store, "--name", "second", "--parent", name)
        self.run_ok("remove", self.store, "second")
        self.run_ok("remove", self.store, name)

    def test_full_every_without_parent(self):
        answer = self.run_error(USAGE, "pack", self.tree, "--store", self.store, "--full-every", "3")
        self.assertIn("--full-every goes with --parent", answer.err)

    def test_a_program_that_is_not_there(self):
        words = ("run", "--store", self.store, "--stage", self.work / "stage", "--")
        self.assertIn("there is no such program", self.run_error(NO_PROGRAM, *words, "missing/app").err)
        self.assertIn("there is no such program", self.run_error(NO_PROGRAM, *words, "forebay-no-such-program").err)
        self.assertIn("chmod +x", self.run_error(CANNOT_EXECUTE, *words, self.tree / "run.log").err)
        self.assertFalse(self.store.exists())

    def test_history_without_jobs(self):
        self.pack()
        self.assertEqual(f"{self.store}: no jobs\n", self.run_ok("status", "--store", self.store, "--history").out)


class Answers(StoreTest):
    def test_stored_bytes_are_the_same_everywhere(self):
        packed = self.pack("--json").json
        listed = self.run_ok("ls", self.store, "--json").json["sets"][0]
        verified = self.run_ok("verify", self.store, "--json").json["sets"][0]
        size = sum(container.stat().st_size for container in self.containers())
        self.assertEqual([size] * 3, [one["stored_bytes"] for one in (packed, listed, verified)])

    def test_info_tells_the_command_with_its_options(self):
        self.pack("--profile", "fast", "--step", "7")
        command = self.run_ok("info", self.store, "DD0008", "--json").json["command"]
        self.assertEqual(f"forebay pack {self.tree} --store={self.store} --profile=fast --step=7".split(), sorted_options(command))

    def test_extract_makes_no_directory_that_looks_like_a_file(self):
        tree = self.work / "two"
        tree.mkdir()
        for rank in range(2):
            (tree / f"part.{rank:04}.npy").write_bytes(npy_bytes(field(rank, 8), (8, 8)))
        self.pack(tree=tree)
        where = self.work / "x.txt"
        words = ("extract", "two", "/data", "--store", self.store, "--to")
        self.assertIn("does not end in .npy", self.run_error(USAGE, *words, where).err)
        self.assertFalse(where.exists())
        out = self.run_ok(*words, f"{where}/").out
        self.assertEqual(2, len(os.listdir(where)))
        self.assertNotIn("0 frames", out)
        self.assertIn("of frames that were read before", out)


def sorted_options(command):
    """The words of a command, with --store, --profile and --step in that order."""
    words = command.split()
    order = ["--store", "--profile", "--step"]
    return words[:3] + sorted(words[3:], key=lambda word: order.index(word.split("=")[0]))


if __name__ == "__main__":
    main()
