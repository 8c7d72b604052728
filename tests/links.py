#!/usr/bin/env python3
"""Fails on a link or path in the documents that leads nowhere.

Checked are the links of README.md, CONTRIBUTING.md, docs/ and the other *.md files (also their #anchors, where they lead to a
document), and the words in backquotes that look like files of this repository: `src/...`, `docs/...`, `tests/...` and so on.
Usage: links.py [SOURCE_DIR]
"""
import re
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"`((?:src|docs|tests|cmake|bench|examples|include|tools|completions)/[\w./+-]+)`")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
SKIPPED = {"build", ".git"}


def anchors(text):
    """The anchors of a document's headings, as GitHub makes them."""
    found = set()
    for line in FENCE.sub("", text).splitlines():
        heading = re.match(r"#+\s+(.*)", line)
        if heading:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
            found.add(re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-"))
    return found


def exists(root, path):
    return (root / path).exists() or (any(c in path for c in "*?") and any(root.glob(path)))


def complaints(root):
    for document in sorted(root.rglob("*.md")):
        if SKIPPED & set(document.relative_to(root).parts):
            continue
        text = document.read_text(encoding="utf-8")
        name = document.relative_to(root)
        for target in LINK.findall(FENCE.sub("", text)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            aim = (document.parent / path).resolve() if path else document
            if not aim.exists():
                yield f"{name}: there is no {target}"
            elif anchor and aim.suffix == ".md" and anchor not in anchors(aim.read_text(encoding="utf-8")):
                yield f"{name}: {path or name} has no heading #{anchor}"
        for path in NAMED.findall(text):
            if not re.search(r"[A-Z]{4}", path) and not exists(root, path.rstrip(".")):  # NAME stands for any
                yield f"{name}: there is no {path}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = list(complaints(root))
    for complaint in found:
        print(complaint)
    print(f"{len(found)} links or paths lead nowhere" if found else "all links and paths of the documents lead somewhere")
    return 1 if found else 0


sys.exit(main())
