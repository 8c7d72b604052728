#!/usr/bin/env python3
"""Fails on a dependency between rooms that does not go down (docs/decisions/0001-rooms-and-floors.md).

Checks the #include lines of src/ and include/, and the rooms that each src/*/CMakeLists.txt links.
Usage: include_direction.py [SOURCE_DIR] | --self-test
"""

import re
import sys
import tempfile
import unittest
from pathlib import Path

FLOORS = {
    "base": 1,
    "format": 2, "merge": 2, "codec": 2, "container": 2, "fabric": 2, "store": 2,
    "engine": 3, "lock": 3,
    "mpiio": 4, "job": 4,
    "api": 5, "cli": 5,
}  # fmt: skip

SOURCES = {".c", ".cc", ".h", ".hpp", ".inc"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
GENERATED = re.compile(r"\w+_generated\.h")
ROOM_CALL = re.compile(r"\bforebay_room\s*\(([^)]*)\)")
ROOM_KEYWORDS = {"FOLDERS", "ROOMS", "LIBS", "TEST_LIBS"}
ROOM_TARGET = re.compile(r"\bforebay_(%s)\b" % "|".join(FLOORS))


def may_use(room, other):
    return room == other or FLOORS[other] < FLOORS[room]


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def include_fault(room, header, quoted):
    """Why a file of `room` (None: a public header) may not include `header`, or None if it may."""
    first = header.split("/")[0]
    if ".." in header.split("/"):
        return "includes go from the root of src/, without '..'"
    if first == "forebay" and "/" in header:
        return None
    if first in FLOORS and "/" in header:
        if room is None:
            return f"a public header includes room {first}, which is not installed"
        if not may_use(room, first):
            return f"room {room} (floor {FLOORS[room]}) includes room {first} (floor {FLOORS[first]})"
        return None
    # What a build generates for a room lies in a directory that only this room's target searches.
    if quoted and not GENERATED.fullmatch(header):
        return "not a room of src/: foreign headers go in <>, own ones are named from the root of src/"
    return None


def include_faults(path, room):
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        quoted, angled = match.groups()
        fault = include_fault(room, quoted or angled, quoted is not None)
        if fault:
            yield f"{path}:{line_of(text, match.start())}: #include of {quoted or angled}: {fault}"


def linked_rooms(text):
    """Yields (position, room) for each room that a CMakeLists.txt names as something to link."""
    for call in ROOM_CALL.finditer(text):
        keyword = None
        for word in call.group(1).split():
            if word in ROOM_KEYWORDS:
                keyword = word
            elif keyword == "ROOMS":
                yield call.start(), word
    for match in ROOM_TARGET.finditer(text):
        yield match.start(), match.group(1)


def link_faults(path, room):
    text = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
    for position, other in linked_rooms(text):
        where = f"{path}:{line_of(text, position)}"
        if other not in FLOORS:
            yield f"{where}: room {room} links {other}, which is not a room"
        elif not may_use(room, other):
            yield f"{where}: room {room} (floor {FLOORS[room]}) links room {other} (floor {FLOORS[other]})"


def faults(root):
    for directory in sorted(path for path in (root / "src").iterdir() if path.is_dir()):
        room = directory.name
        if room not in FLOORS:
            yield f"{directory}: not a room of the plan; give it a floor in {Path(__file__).name}"
            continue
        for path in sorted(directory.rglob("*")):
            if path.suffix in SOURCES:
                yield from include_faults(path, room)
            elif path.name == "CMakeLists.txt":
                yield from link_faults(path, room)
    for path in sorted((root / "include").rglob("*.h")):
        yield from include_faults(path, None)


class SelfTest(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "src").mkdir()
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return list(faults(root))

    def test_down_and_own_room_and_system(self):
        self.assertEqual([], self.check({
            "src/engine/a.cc": '#include <vector>\n#include "engine/a.h"\n#include "codec/c.h"\n#include "base/b.h"\n'
                               '#include "forebay/version.h"\n#include <forebay/version.h>\n',
            "src/engine/CMakeLists.txt": "forebay_room(engine ROOMS base codec LIBS fmt::fmt)",
            "include/forebay/x.h": '#include "forebay/version.h"\n#include <stdint.h>\n',
        }))  # fmt: skip

    def test_up(self):
        (fault,) = self.check({"src/base/a.h": '\n#include "engine/e.h"\n'})
        self.assertIn("a.h:2: #include of engine/e.h: room base (floor 1)", fault)

    def test_up_in_angle_brackets_and_with_spaces(self):
        self.assertEqual(1, len(self.check({"src/base/a.h": "  #  include   <engine/e.h>"})))

    def test_sideways(self):
        self.assertEqual(1, len(self.check({"src/merge/a.cc": '#include "format/reader.h"'})))
        self.assertEqual(1, len(self.check({"src/cli/a.cc": '#include "api/version.h"'})))

    def test_tests_of_a_room_are_held_to_it_too(self):
        self.assertEqual(1, len(self.check({"src/codec/a_test.cc": '#include "engine/e.h"'})))

    def test_relative_and_bare_names(self):
        self.assertEqual(1, len(self.check({"src/merge/a.cc": '#include "../base/b.h"'})))
        self.assertEqual(1, len(self.check({"src/merge/a.cc": '#include "b.h"'})))

    def test_generated_header(self):
        self.assertEqual([], self.check({"src/container/a.h": '#include "index_generated.h"'}))
        self.assertEqual(1, len(self.check({"src/container/a.h": '#include "store/index_generated.h"'})))

    def test_public_header_that_needs_a_room(self):
        self.assertEqual(1, len(self.check({"include/forebay/x.h": '#include "base/error.h"'})))

    def test_links(self):
        self.assertEqual(1, len(self.check({"src/merge/CMakeLists.txt": "forebay_room(merge ROOMS base\n  codec)"})))
        self.assertEqual(1, len(self.check({"src/merge/CMakeLists.txt": "forebay_room(merge ROOMS bsae)"})))
        self.assertEqual(1, len(self.check({
            "src/base/CMakeLists.txt": "target_link_libraries(forebay_base PUBLIC forebay_store)"})))  # fmt: skip

    def test_comments_in_cmake_do_not_count(self):
        self.assertEqual([], self.check({"src/merge/CMakeLists.txt": "forebay_room(merge ROOMS base)  # forebay_cli"}))

    def test_unknown_room(self):
        self.assertEqual(1, len(self.check({"src/util/a.h": ""})))


def main(arguments):
    if arguments == ["--self-test"]:
        unittest.main(argv=[__file__], verbosity=1)
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    found = list(faults(root))
    print("\n".join(found) if found else "all includes and links go down")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
