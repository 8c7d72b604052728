#!/usr/bin/python3
"""Checks by their symbols that nothing of MPI-IO is forgotten.

usage: symbols.py exports LAYER MPI_LIBRARY...    the layer exports what the MPI libraries do, but the list below
       symbols.py calls LAYER MPI_LIBRARY PROGRAM...  the programs together call everything that is intercepted
       symbols.py module MODULE                   a module shows nothing but entry points
"""

import re
import subprocess
import sys

# They concern neither data nor pointers nor how a file is opened.
LEFT_ALONE = {
    "c2f", "f2c", "get_amode", "get_group", "get_type_extent",
    "call_errhandler", "create_errhandler", "get_errhandler", "set_errhandler",
}  # fmt: skip

C_NAME = re.compile(r"MPI_File_([a-z0-9_]+)$")
F08_NAME = re.compile(r"mpi_file_([a-z_]+)_f08_$")
# The manglings of a Fortran name, and Open MPI's own names.
FORTRAN_NAMES = [
    re.compile(r"mpi_file_([a-z_]+?)_{0,2}$"),
    re.compile(r"ompi_file_([a-z_]+)_f$"),
    re.compile(r"MPI_FILE_([A-Z_]+)$"),
    re.compile(r"MPI_File_([a-z_]+)_f(?:08)?$"),
]


def symbols(path, *options):
    output = subprocess.run(["nm", "-D", "--format=posix", *options, path], check=True, capture_output=True, text=True)
    return {line.split()[0].split("@")[0] for line in output.stdout.splitlines()}


def stem(name):
    """What a C symbol is called after MPI_File_, without _c; None for other symbols."""
    match = C_NAME.match(name)
    if not match or re.search(r"_f(08)?$", match[1]):
        return None
    return re.sub(r"_c$", "", match[1])


def fortran_stem(name):
    for pattern in FORTRAN_NAMES:
        match = pattern.match(name)
        if match and not name.endswith(("_f08_", "_f08ts_")):
            return match[1].lower()
    return None


def wanted_of(library):
    """The symbols of a library that have to be intercepted: of C, and of the Fortran part of Open MPI."""
    defined = symbols(library, "--defined-only")
    names = {name for name in defined if stem(name) and stem(name) not in LEFT_ALONE}
    if "ompi_file_open_f" in defined:
        own = {name for name in defined if fortran_stem(name) and fortran_stem(name) not in LEFT_ALONE}
        names |= {name for name in own if not re.search(r"_(init|finalize)$", name)}
    if "pmpir_file_open_f08_" in defined:  # MPICH's bindings of Fortran 2008, past the C functions
        names |= {n for n in defined if (match := F08_NAME.match(n)) and match[1] not in LEFT_ALONE}
    return names


def check_exports(layer, libraries):
    exported = symbols(layer, "--defined-only")
    wanted = set().union(*(wanted_of(library) for library in libraries))
    missing = sorted(wanted - exported)
    known = {stem(name) for name in wanted} | {fortran_stem(name) for name in wanted}
    strange = sorted(n for n in exported if "file" in n.lower() and (stem(n) or fortran_stem(n) or n) not in known
                     and not F08_NAME.match(n))
    print(f"{len(wanted)} symbols of MPI-IO are wanted, {len(exported)} exported")
    return [f"not intercepted: {n}" for n in missing] + [f"no MPI library has: {n}" for n in strange]


def check_calls(layer, library, programs):
    used = set().union(*(symbols(program, "--undefined-only") for program in programs))
    wanted = {n for n in wanted_of(library) & symbols(layer, "--defined-only") if stem(n)}
    print(f"{len(wanted)} functions are intercepted")
    return [f"no test calls: {n}" for n in sorted(wanted - used)]


def check_module(module):
    return [f"should be hidden: {n}" for n in sorted(symbols(module, "--defined-only"))
            if not re.match(r"(MPI_|mpi_)", n)]


def main(arguments):
    kind, *rest = arguments
    if kind == "exports":
        faults = check_exports(rest[0], rest[1:])
    elif kind == "calls":
        faults = check_calls(rest[0], rest[1], rest[2:])
    else:
        faults = check_module(rest[0])
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
