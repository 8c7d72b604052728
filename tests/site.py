#!/usr/bin/env python3
"""Fails where the navigation of the site (mkdocs.yml) lacks a page of docs/, or names one that is not there, or names one twice.

A page may be left out on purpose, by a pattern below `not_in_nav`. Needs no MkDocs. Usage: site.py [SOURCE_DIR]
"""

import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

MADE = {"overview.md", "contributing.md", "changelog.md", "decisions/index.md"}  # by tools/site/hooks.py


def faults(config, pages):
    """Of the text of mkdocs.yml and the pages below docs/."""
    nav = re.findall(r"^ *- (?:[^:\n]*: )?(\S+\.md)$", config.split("\nnav:\n")[1], re.MULTILINE)
    patterns = re.findall(r"^  (\S+)$", re.search(r"^not_in_nav: \|\n((?:  .*\n)+)", config, re.MULTILINE).group(1), re.MULTILINE)
    kept = [pattern[2:] for pattern in patterns if pattern.startswith("!")]
    left_out = [pattern[1:] for pattern in patterns if not pattern.startswith("!")]
    for page in sorted(pages - set(nav)):
        if page in kept or not any(fnmatchcase(page, pattern) for pattern in left_out):
            yield f"docs/{page} is neither below 'nav' nor below 'not_in_nav' of mkdocs.yml"
    for page in sorted(set(nav) - pages - MADE):
        yield f"mkdocs.yml names {page}, which is not in docs/"
    for page in sorted({page for page in nav if nav.count(page) > 1}):
        yield f"mkdocs.yml names {page} twice"
    for pattern in left_out:
        if not any(fnmatchcase(page, pattern) for page in pages):
            yield f"mkdocs.yml leaves out {pattern}, and there is no such page"


def self_test():
    config = "not_in_nav: |\n  /codes/*.md\n  !/codes/README.md\n\nnav:\n  - index.md\n  - Run:\n      - Job it is: job.md\n      - codes/README.md\n"
    pages = {"index.md", "job.md", "codes/README.md", "codes/a.md"}
    assert not list(faults(config, pages)), list(faults(config, pages))
    assert "docs/new.md is neither" in "".join(faults(config, pages | {"new.md"}))
    assert "names job.md, which" in "".join(faults(config, pages - {"job.md"}))
    assert "names job.md twice" in "".join(faults(config + "  - job.md\n", pages))
    assert "docs/codes/README.md is neither" in "".join(faults(config.replace("      - codes/README.md\n", ""), pages))
    assert "leaves out codes/*.md" in "".join(faults(config.replace("      - codes/README.md\n", ""), {"index.md", "job.md"}))


def main():
    self_test()
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    pages = {page.relative_to(source / "docs").as_posix() for page in (source / "docs").rglob("*.md")}
    found = list(faults((source / "mkdocs.yml").read_text(), pages))
    print("\n".join(found) if found else f"the site's navigation has all of {len(pages)} pages, but for those that are left out on purpose")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
