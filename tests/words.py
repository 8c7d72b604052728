#!/usr/bin/env python3
"""Fails on a word that docs/words.md has retired: in the README, in the pages of docs/ (not in decisions and benchmarks, which are dated),
or in --help.

The table "Retired words" of docs/words.md is the list: the words of the first column, between commas, and in the last one the pages that may
have them. Code is passed over in pages. Usage: words.py [--help-of FOREBAY] [SOURCE_DIR]
"""

import re
import subprocess
import sys
from pathlib import Path

CODE = re.compile(r"```[\s\S]*?```|`[^`\n]*`|^    [^\n]*$", re.MULTILINE)


def retired(page):
    """(pattern, what to write, pages that may have it) for each row of the table."""
    rows = re.findall(r"^\| (.+?) \| (.+?) \|(.*)\|$", page.split("\n## Retired words\n")[1], re.MULTILINE)
    for words, instead, spared in rows[1:]:
        alternatives = "|".join(re.escape(word.strip().replace("`", "")).replace(r"\ ", r"\s+") for word in words.split(", "))
        if not set(words) <= {"-"}:
            yield re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w-])", re.IGNORECASE), instead, re.findall(r"`([^`]+)`", spared)


def faults(name, text, rules):
    text = CODE.sub(lambda match: re.sub(r"[^\n]", "\0", match.group(0)), text)
    for pattern, instead, spared in rules:
        for match in pattern.finditer(text) if name not in spared else ():
            yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: '{' '.join(match.group(0).split())}' is retired: write {instead}"


def self_test():
    table = "\n## Retired words\n\n| instead of | write | may stay in |\n|---|---|---|\n| give up, given up | fails | |\n| old word | *new word* | `theirs.md` |\n"
    rules = list(retired(table))
    assert len(rules) == 2, rules
    assert [fault.split(":")[1] for fault in faults("a.md", "It was\nGiven\nup.\nAn old word.", rules)] == ["2", "4"]
    assert not list(faults("theirs.md", "An old word, `given up`.\n\n    give up\n\nNot forgive upper, old wordings.", rules))


def help_texts(command):
    def ask(*words):
        return subprocess.run([command, *words, "--help"], capture_output=True, text=True, check=True).stdout

    first = ask()
    yield "--help", first
    for verb in re.findall(r"^  (\w+)", re.search(r"^Verbs:\n((?:  .*\n)+)", first, re.MULTILINE).group(1), re.MULTILINE):
        yield f"{verb} --help", re.sub(r"^ +", "", ask(verb).split("\nExamples:\n")[0], flags=re.MULTILINE)


def main():
    self_test()
    words = sys.argv[1:]
    command = words.pop(1) if words[:1] == ["--help-of"] else None
    words = words[1:] if command else words
    source = Path(words[0]) if words else Path(__file__).resolve().parent.parent
    rules = list(retired((source / "docs/words.md").read_text()))
    pages = [source / "README.md", source / "docs/man/forebay.1", *sorted((source / "docs").glob("*.md"))]
    texts = help_texts(command) if command else ((page.name, page.read_text()) for page in pages if page.name != "words.md")
    found = [fault for name, text in texts for fault in faults(name, text, rules)]
    print("\n".join(found) if found else f"none of the words of {len(rules)} rows is used that docs/words.md has retired")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
