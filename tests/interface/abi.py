#!/usr/bin/env python3
"""What programs that are linked with the installed libraries depend on, against what was kept: functions and their arguments,
layouts of structures, and numbers of constants.

A library of empty functions is made of the public headers, for abidw (Debian's abigail-tools) takes layouts from debug
information; the functions of the real libraries have to be just these. Functions and constants may be added; a member at
the end of a structure breaks no program either, if forebay.h's rules are kept. After such a change, and never after another
one without a new minor version: abi.py ... --update.

Usage: abi.py LIBRARY_DIR INCLUDE_DIR:... [--update]"""

import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KEPT = Path(__file__).resolve().parent / "abi"
LAYOUTS, CONSTANTS = KEPT / "forebay.abi", KEPT / "constants.txt"
LIBRARIES = ("libforebay.so", "libforebay_read.so", "libforebay_codec.so")
PRIVATE = {"forebay_private_failed"}  # between the libraries, which are installed together
PLUGIN = "forebay_method.h"           # what plug-ins implement; its version is in the header itself


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, timeout=60).stdout


def declarations(text):
    """The functions that a header declares, as (name, declaration without ';')."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for found in re.finditer(r"^FOREBAY_API\s+([^;{]+?)\s*;", text, re.M | re.S):
        yield re.search(r"(\w+)\(", found[1])[1], found[1]


def stub(headers, functions):
    lines = [f"#include <forebay/{header.name}>" for header in headers]
    for declaration in functions.values():
        is_void = declaration.startswith("void ")
        lines.append(f"FOREBAY_API {declaration} {{ {'' if is_void else 'return 0;'} }}")
    return "\n".join(lines) + "\n"


def constants(headers, includes, work):
    """Every enumerator and number that the headers define, a line each."""
    names = []
    for header in headers:
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        names += [one for body in re.findall(r"enum\s*\{(.*?)\}", text, re.S) for one in re.findall(r"(FOREBAY_\w+)\s*=", body)]
        names += re.findall(r"#define (FOREBAY_\w+) \(?\(?[\du]", text)
    source = work / "constants.c"
    source.write_text("#include <stdio.h>\n" + "".join(f"#include <forebay/{one.name}>\n" for one in headers) + "int main(void) {\n" +
                      "".join(f'  printf("{name} %lld\\n", (long long)({name}));\n' for name in names) + "  return 0;\n}\n")
    run("cc", *includes, source, "-o", work / "constants")
    return run(work / "constants")


def exported(library):
    return {line.split()[0] for line in run("nm", "--dynamic", "--defined-only", "--format=posix", library).splitlines()}


def compare_layouts(now, work):
    (work / "now.abi").write_text(now)
    words = ["abidiff", "--no-added-syms", str(LAYOUTS), str(work / "now.abi")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr if done.returncode != 0 else ""


def main():
    libraries, include, *rest = sys.argv[1:]
    if not shutil.which("abidw") or platform.machine() != "x86_64":
        print("abidw is not installed (abigail-tools), or this is not the processor that the layouts were kept of")
        sys.exit(77)
    directories = [Path(one) for one in include.split(":")]
    includes = [f"-I{one}" for one in directories]
    headers = sorted(one for one in (directories[0] / "forebay").glob("*.h"))
    functions = dict(pair for header in headers for pair in declarations(header.read_text()))
    faults = []
    with tempfile.TemporaryDirectory(prefix="forebay-abi-") as scratch:
        work = Path(scratch)
        (work / "stub.c").write_text(stub([one for one in headers if one.name != PLUGIN], functions))
        run("cc", "-g", "-shared", "-fPIC", "-fno-eliminate-unused-debug-types", "-fdebug-prefix-map=" + scratch + "=.", *includes,
            work / "stub.c", "-o", work / "libforebay_all.so")
        layouts = run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-elf-needed", "--no-show-locs", work / "libforebay_all.so")
        numbers = constants(headers, includes, work)
        if rest == ["--update"]:
            LAYOUTS.write_text(layouts)
            CONSTANTS.write_text(numbers)
            return
        real = set().union(*(exported(Path(libraries) / one) for one in LIBRARIES))
        if real != set(functions) | PRIVATE:
            faults.append(f"declared, exported: only in one of them: {sorted(real ^ (set(functions) | PRIVATE))}")
        faults += [f"a constant is gone or has another number: {line}" for line in CONSTANTS.read_text().splitlines()
                   if line not in numbers.splitlines()]
        faults.append(compare_layouts(layouts, work))
        # A check that cannot fail is none: a structure with a member moved has to be found.
        moved = layouts.replace("layout-offset-in-bits='64'", "layout-offset-in-bits='128'")
        if moved != layouts and not compare_layouts(moved, work):
            faults.append("abidiff does not see that a member was moved")
    faults = [one for one in faults if one]
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
