#!/usr/bin/env python3
"""Fails on sentences of the pages that break a rule of CONTRIBUTING.md, "Style": the actor is a noun and comes first, quantities have names and
units, and programs report, print, show or decide.

Looks at the README, CONTRIBUTING.md, the pages of docs/, but not at decisions and benchmarks, which are dated, and at the comments of
public headers. Code and questions are passed over. Usage: plain_english.py [SOURCE_DIR]
"""

import re
import sys
from pathlib import Path

RULES = (
    (re.compile(r"(?:^|[.:;!]\s+|\|\s+|^- )(?:Who|Whoever|Whose|What)\s+[a-z](?:[^.?|;:]|\.\d)*+[.|;:]", re.MULTILINE), "begins with who, what or whoever"),
    (re.compile(r"\b[Ss]o (?:many|long)\b(?! as\b)"), "says 'so many' or 'so long'"),
    (re.compile(r"\b(?:[Tt]ells?|told)\b"), "tells: report, print, show, decide or say"),
)
COMMENT = re.compile(r"/\*[\s\S]*?\*/|//[^\n]*")
MARKER = re.compile(r"^[ \t]*(?:/\*+|//+|\*)[ \t]*", re.MULTILINE)
CODE = re.compile(r"```[\s\S]*?```|`[^`\n]*`|^    [^\n]*$", re.MULTILINE)


def pages(source):
    yield source / "README.md"
    yield source / "CONTRIBUTING.md"
    yield from sorted((source / "docs").glob("*.md"))
    yield from sorted((source / "include").glob("*/*.h*"))
    yield source / "docs" / "man" / "forebay.1"


def blank(match):
    return re.sub(r"[^\n]", "x", match.group(0))


def comments(header):
    """The header with nothing but the text of its comments, on the same lines; each comment that begins a line is a paragraph."""
    kept, at = [], 0
    for match in COMMENT.finditer(header):
        kept += [re.sub(r"[^\n]", "", header[at : match.start()]), match.group(0).removesuffix("*/")]
        at = match.end()
    return MARKER.sub("", "".join(kept))


def faults(name, source):
    text = CODE.sub(blank, comments(source) if name.endswith((".h", ".hpp")) else source)
    for pattern, what in RULES:
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start() + len(match.group(0)) - len(match.group(0).lstrip())) + 1
            yield f"{name}:{line}: {what}: {' '.join(match.group(0).split())[:70]}"


def self_test():
    bad = ("What is lost is rebuilt.", "It waits. Who leads,\ndecides.", "- Whoever starts them says so;", "after so many sets", "So long it waits.", "It tells the rank.")
    good = ("What is lost?", "| What does it cost, beside ADIOS 1.13? |", "as many sets", "so long as it runs", "`What is this.`", "    What is code.",
            "a set. It is what was packed.")  # fmt: skip
    for text in bad:
        assert list(faults("bad", text)), text
    assert list(faults("a.h", "int a;\n/* One.\n * What is lost is rebuilt. */"))
    assert not list(faults("a.h", "int what = so_many;\n// None.\nint b;  // the one\n"))
    for text in good:
        assert not list(faults("good", text)), text


def main():
    self_test()
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = [fault for page in pages(source) for fault in faults(page.name, page.read_text())]
    print("\n".join(found) if found else "no sentence of the pages breaks the rules that are looked for")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
