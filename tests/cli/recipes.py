#!/usr/bin/env python3
"""forebay recipes: what is listed, what a recipe says, and what a rule would take in a directory."""

import os

from support import NOT_FOUND, SOURCE, USAGE, StoreTest, main, snapshot

MINE = """\
title = "A code of mine"
rule = "{out}/dump.{set}.{rank}; with {out}/log appended; done same quiet 5s"
[words]
out = "run"
[resume]
args = ["-r", "{path}"]
"""


class Recipes(StoreTest):
    def files(self, **paths):
        for name, size in paths.items():
            path = self.work / "case" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x" * size)
            self.clock = getattr(self, "clock", 1_600_000_000) + 60
            os.utime(path, (self.clock, self.clock))

    def mine(self, text=MINE, name="mine"):
        directory = self.work / "config/forebay/recipes"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{name}.toml").write_text(text)
        return {"XDG_CONFIG_HOME": str(self.work / "config")}

    def test_all_of_the_installation_are_listed(self):
        names = {path.stem for path in (SOURCE / "recipes").glob("*.toml")}
        self.assertGreaterEqual(len(names), 60)
        lines = self.run_ok("recipes").out.splitlines()
        self.assertEqual(["NAME", "RANKS", "FROM", "CODE"], lines[0].split())
        self.assertEqual(names, {line.split()[0] for line in lines[1:]})
        self.assertEqual(names, {recipe["name"] for recipe in self.run_ok("recipes", "--json").json["recipes"]})

    def test_each_is_shown(self):
        for recipe in self.run_ok("recipes", "--json").json["recipes"]:
            answer = self.run_ok("recipes", recipe["name"])
            self.assertIn(f"\nfile: {recipe['path']}\n", answer.out)
            self.assertLessEqual(max(map(len, answer.out.replace(recipe["path"], "").splitlines())), 100, recipe)

    def test_one_is_shown(self):
        out = self.run_ok("recipes", "gromacs").out
        self.assertIn("A set, and when it is complete\n  {name}.cpt\n  not *_prev.cpt\n", out)
        self.assertIn("  with {name}.xtc appended\n  done renamed\n", out)
        self.assertIn("  the command is followed by -cpi '{file:*.cpt}'\n", out)
        document = self.run_ok("recipes", "gromacs", "--json").json
        self.assertEqual(["-cpi", "{file:*.cpt}"], document["resume"]["argument_words"])
        self.assertTrue(document["rule"].endswith("; done renamed"))
        self.assertTrue(document["path"].endswith("share/forebay/recipes/gromacs.toml"))

    def test_own_ones_come_first(self):
        env = self.mine(name="gromacs")
        self.assertIn("A code of mine", self.run_ok("recipes", "gromacs", env=env).out)
        self.assertIn("or what --let out=VALUE says", self.run_ok("recipes", "gromacs", env=env).out)
        self.assertRegex(self.run_ok("recipes", env=env).out, r"(?m)^gromacs .* A code of mine$")

    def test_wrong_ones_are_named_with_the_line(self):
        env = self.mine(MINE.replace("quiet 5s", "quiet 5"))
        answer = self.run_error(USAGE, "recipes", "mine", env=env)
        self.assertIn("mine.toml: line 2: 'rule': column 67: '5' is no time (such as 2s or 500ms)", answer.err)
        self.assertIn("did you mean gromacs", self.run_error(NOT_FOUND, "recipes", "gromcas").err)

    def test_wrong_ones_do_not_hide_the_others(self):
        env = self.mine("title = ")
        from support import forebay

        answer = forebay("recipes", env=env)
        self.assertEqual(0, answer.code)
        self.assertRegex(answer.err, r"^forebay: warning: .*mine.toml: line 1: ")
        self.assertIn("gromacs", answer.out)

    def test_match_shows_what_is_taken_and_what_is_left(self):
        self.files(**{"processor0/constant/points": 3, "processor0/0/U": 1, "processor1/0/U": 1, "system/controlDict": 1,
                      "system/fvSchemes": 1, "processor0/0.8/U": 9, "processor1/0.8/U": 9, "processor0/1.1/U": 9})  # fmt: skip
        before = snapshot(self.work / "case")
        answer = self.run_ok("recipes", "--match", "openfoam", self.work / "case")
        self.assertRegex(answer.out, r"(?m)^0.8 +2 +18 B +2020-09-13 \S+$")
        self.assertRegex(answer.out, r"(?m)^1.1 +1 +9 B .* incomplete\? rank 1 of processor\{rank\}/\{set:time\}/\*\* is not there again$")
        self.assertIn("Stored with each set, as it is then:\n  processor0/constant/points, 3 B\n", answer.out)
        self.assertIn("Left alone:\n  processor0/0/, 1 file, 1 B\n  processor1/0/, 1 file, 1 B\n  system/, 2 files, 2 B\n", answer.out)
        self.assertEqual(before, snapshot(self.work / "case"))
        document = self.run_ok("recipes", "--match", "openfoam", self.work / "case", "--json").json
        self.assertEqual(["0.8", "1.1"], [found["label"] for found in document["sets"]])
        self.assertEqual([None, "rank 1 of processor{rank}/{set:time}/** is not there again"], [found["doubt"] for found in document["sets"]])
        self.assertEqual(["processor0/0/", "processor1/0/", "system/"], [left["path"] for left in document["left_alone"]])

    def test_match_takes_rules_and_words(self):
        self.files(**{"a.1": 1, "b.1": 2, "run/dump.7.0": 3, "run/log": 4})
        answer = self.run_ok("recipes", "--match", "--sets", "{name}.{set}; done quiet 1s", self.work / "case")
        self.assertRegex(answer.out, r"(?m)^a:1 ")
        self.assertRegex(answer.out, r"(?m)^b:1 ")
        answer = self.run_ok("recipes", "--match", "--sets", "{name}.{set}; done quiet 1s", "--let", "name=b", self.work / "case")
        self.assertRegex(answer.out, r"(?m)^1 +1 +2 B")
        self.assertNotIn("a:1", answer.out)
        env = self.mine()
        answer = self.run_ok("recipes", "--match", "mine", self.work / "case", env=env)
        self.assertRegex(answer.out, r"(?m)^7 +1 +3 B")
        self.assertIn("run/log, 4 B, cut back to its length at a restart", answer.out)
        answer = self.run_ok("recipes", "--match", "mine", self.work / "case", "--let", "out=other", env=env)
        self.assertIn("no sets: no file matches a member of the rule\n", answer.out)

    def test_names_that_are_used_in_turn_are_ordered_by_time(self):
        self.files(**{"s_hdf5_chk_0002": 9, "s_hdf5_chk_0000": 9, "s_hdf5_chk_0001": 9})
        answer = self.run_ok("recipes", "--match", "flash", self.work / "case")
        self.assertRegex(answer.out, r"(?s)s_:0002 .*s_:0000 .*s_:0001 ")
        self.assertIn("s_:0002 was written before s_:0000: times count, not names", answer.out)

    def test_wrong_command_lines(self):
        for words, message in (
            (["--match", "gromacs"], "--match takes the name of a recipe and a directory"),
            (["--match", "--sets", "a b", self.work], "--sets: column 3: 'b' follows a pattern"),
            (["--match", "--sets", "a", "x", self.work], "--sets takes a directory"),
            (["gromacs", "--sets", "a"], "--sets and --let need --match"),
            (["gromacs", self.work], "unexpected"),
            (["--match", "gromacs", self.work, "--let", "out"], "'out' is not NAME=VALUE"),
            (["--match", "gromacs", self.work, "--let", "out=x"], "the rule has no word {out}"),
        ):
            self.assertIn(message, self.run_error(USAGE, "recipes", *words).err)
        self.run_error(NOT_FOUND, "recipes", "--match", "gromacs", self.work / "nothing")


if __name__ == "__main__":
    main()
