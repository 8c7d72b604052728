#!/usr/bin/env python3
"""Fails on lines of the pages with more than 130 columns, but for tables, code, headings and generated parts, and words that are longer.

`columns.py --mend` fills the paragraphs and list items that have such a line anew. Usage: columns.py [--mend] [SOURCE_DIR]
"""

import re
import sys
from pathlib import Path

WIDTH = 130
GENERATED = re.compile(r"<!-- (?:begin generated|table)")
ITEM = re.compile(r" *(?:[-*]|\d+\.) +")
WORD = re.compile(r"(?:`[^`]*`|!?\[(?:[^\[\]]|\[[^\]]*\])*\]\([^)]*\)|\S)+")  # a span of code or a link is not divided
NEVER_FIRST = re.compile(r"[-*+>|#=]|\d+[.)]$|<!--")  # at the beginning of a line these would mean something else


def paragraphs(text):
    """(number of the first line, lines, whether it may be filled) for all of a page."""
    block, began, fenced, generated = [], 1, False, False
    for number, line in enumerate(text.split("\n"), 1):
        fence, left = line.startswith("```"), generated
        generated = bool(GENERATED.match(line)) or (generated and not line.startswith("<!-- end"))
        plain = not (fence or fenced or left or generated or not line.strip() or line.lstrip().startswith(("|", "#", "<", ">")))
        code = plain and line.startswith("    ") and not block and not ITEM.match(line)
        if block and (not plain or ITEM.match(line)):
            yield began, block, True
            block = []
        if not plain or code:
            yield number, [line], False
        else:
            began = began if block else number
            block.append(line)
        fenced ^= fence
    if block:
        yield began, block, True


def filled(lines):
    first = ITEM.match(lines[0])
    indent = " " * len(first[0]) if first else re.match(" *", lines[0])[0]
    text = " ".join(line.strip() for line in lines)
    done, current = [], re.match(" *", lines[0])[0]
    for word in WORD.findall(text):
        joined = current + word if not current.strip() else f"{current} {word}"
        if len(joined) > WIDTH and current.strip() and not NEVER_FIRST.match(word):
            done.append(current)
            joined = indent + word
        current = joined
    return [*done, current]


def mended(text):
    result = []
    for _, lines, may_fill in paragraphs(text):
        result += filled(lines) if may_fill and any(len(line) > WIDTH for line in lines) else lines
    return "\n".join(result)


def faults(text):
    for began, lines, may_fill in paragraphs(text):
        if may_fill and filled(lines) != lines:
            yield from (began + i for i, line in enumerate(lines) if len(line) > WIDTH)


def self_test():
    long = "word " * 40 + "[a link of some words](page.md) `code with blanks` - 7. end"
    text = f"# Title\n\n{long}\n\n- item {long}\n  goes on\n1. {long}\n\n    {long}\n\n| {long} |\n\n```\n{long}\n```\n<!-- table: x -->\n{long}\n<!-- end -->\n"
    assert list(faults(text)) == [3, 5, 7], list(faults(text))
    done = mended(text)
    assert not list(faults(done)) and done.split() == text.split() and mended(done) == done
    assert "\n  " in done and "\n- 7." not in done and "\n7. end" not in done, done
    assert mended("x" * 200) == "x" * 200 and not list(faults("x" * 200))


def main():
    self_test()
    words = sys.argv[1:]
    mend = "--mend" in words
    source = Path([word for word in words if word != "--mend"][0]) if len(words) > mend else Path(__file__).resolve().parent.parent
    pages = [source / "README.md", source / "CONTRIBUTING.md", *sorted((source / "docs").rglob("*.md"))]
    found = []
    for page in pages:
        if page.parent.name == "codes":  # tools/code_pages.py writes them
            continue
        text = page.read_text()
        if mend and mended(text) != text:
            page.write_text(mended(text))
        found += [f"{page.relative_to(source)}:{line}: more than {WIDTH} columns" for line in faults(mended(text) if mend else text)]
    print("\n".join(found) if found else f"no line of the pages has more than {WIDTH} columns that need not")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
