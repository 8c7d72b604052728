#!/usr/bin/env python3
"""Fails on a dependency between rooms that does not go down (docs/decisions/0001-rooms-and-floors.md), and on one within a
room that goes from an earlier folder to a later one.

Checks the #include lines of src/ and include/, and what each CMakeLists.txt of src/ links. The order of a room's folders is
what its CMakeLists.txt says: the FOLDERS of forebay_room(), which are one library, or the words of foreach(part ...), which
are a library each, and may include only what they link.
Usage: include_direction.py [SOURCE_DIR] | --self-test
"""

import re
import sys
import tempfile
import unittest
from pathlib import Path

FLOORS = {
    "base": 1,
    "bp": 2, "format": 2, "merge": 2, "codec": 2, "container": 2, "fabric": 2, "store": 2, "redundancy": 2,
    "engine": 3, "lock": 3,
    "mpiio": 4, "job": 4, "mount": 4,
    "io": 5, "launch": 5,
    "view": 6,
    "convert": 7, "report": 7,
    "api": 8, "cli": 8, "adios": 8, "scr": 8, "python": 8,
}  # fmt: skip

SOURCES = {".c", ".cc", ".h", ".hpp", ".inc"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
GENERATED = re.compile(r"\w+_generated\.h")
ROOM_CALL = re.compile(r"\bforebay_room\s*\(([^)]*)\)")
ROOM_KEYWORDS = {"UNITY_WHOLE", "COMPUTES", "FOLDERS", "ROOMS", "LIBS", "TEST_LIBS"}
TARGET = re.compile(r"\bforebay_(%s)(?:_(\w+))?\b" % "|".join(FLOORS))
PARTS = re.compile(r"\bforeach\s*\(\s*part\s+([^)]*)\)")


def may_use(room, other):
    return room == other or FLOORS[other] < FLOORS[room]


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def without_comments(path):
    return re.sub(r"#.*", "", path.read_text(encoding="utf-8")) if path.exists() else ""


class Folders:
    """The folders of a room in their order, and which of them each may use. `linked` has those that are libraries."""

    def __init__(self, directory):
        self.room = directory.name
        text = without_comments(directory / "CMakeLists.txt")
        parts = PARTS.search(text)
        self.order = parts.group(1).split() if parts else [word for _, word in words_of(text, "FOLDERS")]
        self.linked = {}
        for part in self.order if parts else []:
            own = {other for _, other in self.links(without_comments(directory / part / "CMakeLists.txt")) if other != part}
            self.linked[part] = own.union(*(self.linked.get(other, set()) for other in own))

    def links(self, text):
        for match in TARGET.finditer(text):
            if match.group(1) == self.room and match.group(2) in self.order:
                yield match.start(), match.group(2)

    def of(self, path, directory):
        parts = path.relative_to(directory).parts
        return parts[0] if len(parts) > 1 and parts[0] in self.order else None

    def comes_later(self, folder, other):
        return self.order.index(other) > self.order.index(folder)

    def include_fault(self, folder, header, is_test):
        """Why a file of `folder` may not include `header`, or None if it may."""
        first, *rest = header.split("/")
        if folder is None or first != self.room or not rest:
            return None
        other = rest[0] if len(rest) > 1 else None
        if folder in self.linked:
            if other is None:
                if is_test and rest[0].startswith("test_"):
                    return None
                return f"part {folder} of {self.room} includes what is above all parts"
            if other in self.order and other != folder and other not in self.linked[folder]:
                return f"part {folder} of {self.room} does not link part {other}"
            return None
        # The tests of these folders are one program.
        if not is_test and other in self.order and self.comes_later(folder, other):
            return f"folder {folder} of {self.room} comes before {other}"
        return None

    def link_faults(self, path, folder):
        if folder not in self.linked:
            return
        text = without_comments(path)
        for position, other in self.links(text):
            if self.comes_later(folder, other):
                yield f"{path}:{line_of(text, position)}: part {folder} of {self.room} links {other}, which comes later"


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


def include_faults(path, room, folders=None, folder=None):
    text = path.read_text(encoding="utf-8")
    is_test = path.name.startswith("test_") or path.stem.endswith(("_test", "_fuzz"))
    for match in INCLUDE.finditer(text):
        quoted, angled = match.groups()
        header = quoted or angled
        fault = include_fault(room, header, quoted is not None)
        if fault is None and folders:
            fault = folders.include_fault(folder, header, is_test)
        if fault:
            yield f"{path}:{line_of(text, match.start())}: #include of {header}: {fault}"


def words_of(text, wanted):
    """Yields (position, word) for each word that follows the keyword `wanted` in a call of forebay_room()."""
    for call in ROOM_CALL.finditer(text):
        keyword = None
        for word in call.group(1).split():
            if word in ROOM_KEYWORDS:
                keyword = word
            elif keyword == wanted:
                yield call.start(), word


def linked_rooms(text):
    """Yields (position, room) for each room that a CMakeLists.txt names as something to link, whole or a part of it."""
    yield from words_of(text, "ROOMS")
    for match in TARGET.finditer(text):
        yield match.start(), match.group(1)


def link_faults(path, room):
    text = without_comments(path)
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
        folders = Folders(directory)
        for path in sorted(directory.rglob("*")):
            folder = folders.of(path, directory)
            if path.suffix in SOURCES:
                yield from include_faults(path, room, folders, folder)
            elif path.name == "CMakeLists.txt":
                yield from link_faults(path, room)
                yield from folders.link_faults(path, folder)
    for path in sorted((root / "include").rglob("*")):
        if path.suffix in SOURCES:
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

    def test_public_cxx_header_that_needs_a_room(self):
        self.assertEqual(1, len(self.check({"include/forebay/x.hpp": '#include "lock/client.h"'})))
        self.assertEqual([], self.check({"include/forebay/x.hpp": '#include <string>\n#include "forebay/x.h"\n'}))

    PARTS = {
        "src/job/CMakeLists.txt": "foreach(part wire client agent)\n  add_subdirectory(${part})\nendforeach()\n"
                                  "forebay_room(job ROOMS base LIBS forebay_job_agent)",
        "src/job/wire/CMakeLists.txt": "forebay_room(job_wire ROOMS base)\ntarget_sources(forebay_job_wire PRIVATE x)",
        "src/job/client/CMakeLists.txt": "forebay_room(job_client ROOMS base LIBS forebay_job_wire)",
        "src/job/agent/CMakeLists.txt": "forebay_room(job_agent ROOMS base LIBS forebay_job_client)",
    }  # fmt: skip

    def test_parts_use_what_they_link(self):
        self.assertEqual([], self.check({
            **self.PARTS,
            "src/job/agent/a.cc": '#include "job/agent/a.h"\n#include "job/client/c.h"\n#include "job/wire/w.h"',
            "src/job/agent/a_test.cc": '#include "job/test_job.h"\n#include "job/client/c.h"',
            "src/job/aggregator.cc": '#include "job/agent/a.h"\n#include "job/aggregator.h"'}))  # fmt: skip

    def test_parts_do_not_use_others(self):
        for path, header in (("wire/w.cc", "job/client/c.h"), ("client/c_test.cc", "job/agent/a.h"),
                             ("agent/a.cc", "job/aggregator.h"), ("agent/a.cc", "job/test_job.h")):
            self.assertEqual(1, len(self.check({**self.PARTS, f"src/job/{path}": f'#include "{header}"'})), header)

    def test_parts_do_not_link_later_ones(self):
        (fault,) = self.check({**self.PARTS, "src/job/wire/CMakeLists.txt": "\nforebay_room(job_wire LIBS forebay_job_agent)"})
        self.assertIn("CMakeLists.txt:2: part wire of job links agent", fault)

    def test_rooms_do_not_link_parts_of_higher_ones(self):
        self.assertEqual(1, len(self.check({
            **self.PARTS, "src/lock/CMakeLists.txt": "forebay_room(lock ROOMS base LIBS forebay_job_client)"})))
        self.assertEqual([], self.check({
            **self.PARTS, "src/api/CMakeLists.txt": "forebay_room(api ROOMS base LIBS forebay_job_client)"}))  # fmt: skip

    def test_folders_use_earlier_ones(self):
        room = {"src/engine/CMakeLists.txt": "forebay_room(engine FOLDERS set pack\n  restore ROOMS base)"}
        self.assertEqual([], self.check({
            **room, "src/engine/pack/p.cc": '#include "engine/set/s.h"\n#include "engine/pipeline.h"',
            "src/engine/registry.cc": '#include "engine/restore/r.h"',
            "src/engine/set/s_test.cc": '#include "engine/pack/p.h"'}))  # fmt: skip
        (fault,) = self.check({**room, "src/engine/set/s.h": '#include "engine/pack/p.h"'})
        self.assertIn("folder set of engine comes before pack", fault)

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
