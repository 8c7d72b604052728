#!/usr/bin/env python3
"""The manual page and the completions know every verb and option, and the completions work."""

import re
import shutil
import subprocess
import unittest

from support import COMMAND, SOURCE, StoreTest, environment, forebay, main

MANUAL = SOURCE / "docs/man/forebay.1"
BASH = SOURCE / "completions/forebay.bash"
ZSH = SOURCE / "completions/_forebay"


def verbs():
    block = re.search(r"^Verbs:\n((?:  .*\n)+)", forebay("--help").out, re.MULTILINE).group(1)
    return re.findall(r"^  (\w+)", block, re.MULTILINE)


def long_options(verb):
    options = forebay(verb, "--help").out.split("\nOptions:\n")[1].split("\nExamples:\n")[0]
    left = re.findall(r"^  (?:    |-\w,|--)[^ ]*.*$", options, re.MULTILINE)
    return {name for line in left for name in re.findall(r"--[a-z][a-z-]*", line.strip().split("  ")[0])}


class Documents(StoreTest):
    def test_there_is_something_to_check(self):
        self.assertEqual(33, len(verbs()))
        self.assertLessEqual({"--store", "--output", "--group-size", "--json", "--help"}, long_options("pack"))

    def test_manual_has_all(self):
        text = MANUAL.read_text().replace("\\-", "-")
        for verb in verbs():
            self.assertRegex(text, rf"(?m)^\.SH {verb.upper()}$")
            for option in long_options(verb):
                self.assertRegex(text, rf"{option}(?![a-z-])", f"{verb} {option}")

    def test_manual_has_the_defaults(self):
        text = " ".join(MANUAL.read_text().split())
        for verb in verbs():
            for sentence in re.findall(r"([A-Z][a-z][\w ]+\. Default: \w+)\.", " ".join(forebay(verb, "--help").out.split())):
                self.assertTrue(sentence in text, f"{verb}: {sentence}")

    def test_manual_has_no_more(self):
        known = {"--version"}.union(*(long_options(verb) for verb in verbs()))
        named = set(re.findall(r"--[a-z][a-z-]*", MANUAL.read_text().replace("\\-", "-")))
        self.assertEqual(set(), named - known)

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_manual_is_well_formed(self):
        done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", "-Kutf8", MANUAL], capture_output=True, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stderr))

    def test_exit_codes_of_help_are_in_the_manual(self):
        manual = MANUAL.read_text()
        for code in re.findall(r"^ +(\d+)  ", forebay("--help").out, re.MULTILINE):
            self.assertIn(f".B {code}\n", manual)

    def test_help_keeps_the_rules_for_sentences(self):
        refused = r"\bso (many|long|much)\b|\btells?\b|\btold\b|(?:^|[.:;] )(?:Who|What|Whoever|Whatever|Whichever) "
        for verb in verbs():
            text = " ".join(forebay(verb, "--help").out.split("\nExamples:\n")[0].split())
            self.assertEqual([], re.findall(rf".{{0,40}}(?:{refused}).{{0,20}}", text), f"CONTRIBUTING.md, 'Style': {verb}")

    def test_zsh_has_all(self):
        text = ZSH.read_text()
        for verb in verbs():
            self.assertIn(f"'{verb}:", text)
            for option in long_options(verb):
                self.assertRegex(text, rf"{option}(?![a-z-])", f"{verb} {option}")

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_is_well_formed(self):
        self.assertEqual(0, subprocess.run(["zsh", "-n", ZSH]).returncode)

    def complete(self, *words, env=None):
        """What bash offers for the last of `words`."""
        script = (
            'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; '
            '_forebay; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        path = f"{self.work}/bin:{environment()['PATH']}"
        (self.work / "bin").mkdir(exist_ok=True)
        if not (self.work / "bin/forebay").exists():
            (self.work / "bin/forebay").symlink_to(COMMAND)
        done = subprocess.run(
            ["bash", "--norc", "-c", script, "bash", BASH, "forebay", *map(str, words)],
            capture_output=True, text=True, cwd=self.work, env=environment(PATH=path, **(env or {})))  # fmt: skip
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return set(done.stdout.split())

    def test_bash_completes_verbs(self):
        self.assertEqual({*verbs(), "help", "--help", "--version"}, self.complete(""))
        self.assertEqual({"restore", "repair", "read", "recipes", "reject", "remove", "report"}, self.complete("re"))
        self.assertEqual({"restore", "repair", "read", "recipes", "reject", "remove", "report"}, self.complete("help", "re"))

    def test_bash_completes_all_options(self):
        for verb in verbs():
            self.assertEqual(long_options(verb), self.complete(verb, "--"), verb)

    def test_bash_completes_values(self):
        self.assertEqual({"aware", "aware-block"}, self.complete("pack", "d", "--scheme", "aw"))
        self.assertEqual({"balanced"}, self.complete("pack", "d", "--profile", "b"))
        self.assertEqual({"DD0008"}, self.complete("pack", "d", "--store", "DD"))
        self.assertEqual({"lammps", "lammps-rank", "lammps-two"}, self.complete("recipes", "la"))

    def test_bash_completes_sets(self):
        self.pack("--name", "first")
        self.pack("--name", "final")
        self.assertEqual({"first", "final"}, self.complete("restore", "--store", self.store, "fi"))
        self.assertEqual({"final"}, self.complete("verify", self.store, "fin"))
        self.assertEqual({"first"}, self.complete("restore", "fir", env={"FOREBAY_STORE": str(self.store)}))
        self.assertEqual({"latest"}, self.complete("ls", self.store, "lat"))


if __name__ == "__main__":
    main()
