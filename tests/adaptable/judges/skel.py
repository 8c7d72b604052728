"""Makes a C program out of an XML file that comes without one: it writes every variable that the file declares.

ADIOS's skel does this with templates; the values here are those of a rank's own, so that a misplaced block shows.
"""

import re
from xml.etree import ElementTree

C_TYPES = {
    "byte": "signed char", "integer": "int", "real": "float", "float": "float", "double": "double", "real*8": "double",
}  # fmt: skip

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include "mpi.h"
#include "adios.h"

/* Distinct values: which variable, rank, step and element. */
#define FILL(type, number, count) \\
    do {{ \\
        for (long n = 0; n < (count); n++) ((type*)array)[n] = (type)((number) * 3 + rank * 11 + step * 29 + n % 97); \\
    }} while (0)

int main(int argc, char** argv) {{
    int rank, size, step;
    int64_t file;
    uint64_t total;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (adios_init("{xml}", MPI_COMM_WORLD)) return 1;
    for (step = 0; step < {steps}; step++) {{
        if (adios_open(&file, "{group}", "skel.bp", step ? "a" : "w", MPI_COMM_WORLD)) return 2;
        adios_group_size(file, {bytes}, &total);
{writes}
        if (adios_close(file)) return 3;
    }}
    adios_finalize(rank);
    MPI_Finalize();
    return 0;
}}
"""


def _elements(expression, time_index, values):
    """The number of elements of a block, as a C expression."""
    factors = []
    for item in (part.strip() for part in expression.split(",")):
        if item.isdigit():
            factors.append(item)
        elif item != time_index:
            factors.append(f"({values[item.rsplit('/', 1)[-1]]})")
    return " * ".join(["(long)1", *factors])


def with_full_names(text):
    """The XML with the full names of variables in the place of bare ones, in lists of dimensions."""
    full = {name: f"{path.rstrip('/')}/{name}" for name, path in
            re.findall(r'<var name="(\w+)" path="([^"]+)" type="integer"', text)}
    return re.sub(r'(dimensions|offsets)="([^"]*)"', lambda match: '{}="{}"'.format(
        match[1], ",".join(full.get(item.strip(), item.strip()) for item in match[2].split(","))), text)


def generate(xml, values, path):
    """Writes the program. `values` has C expressions of `rank`, `size` and `step` for the integers by their names, and
    the number of steps as "steps"; integers that it does not name get one of their own."""
    text = re.sub(r"<!--.*?-->", "", open(xml, encoding="latin-1").read(), flags=re.DOTALL)
    group = ElementTree.fromstring(text).find("adios-group")
    time_index = group.get("time-index", "")
    writes, sizes = [], []
    for number, var in enumerate(group.iter("var")):
        name, folder, kind = var.get("name"), var.get("path") or "", C_TYPES[var.get("type")]
        full = f"{folder.rstrip('/')}/{name}" if folder else name
        if var.get("dimensions"):
            count = _elements(var.get("dimensions"), time_index, values)
            writes.append(f"{{ void* array = malloc({count} * sizeof({kind})); FILL({kind}, {number}, {count});\n"
                          f'          if (adios_write(file, "{full}", array)) return 4; free(array); }}')
        else:
            count = "1"
            writes.append(f"{{ {kind} value = {values.get(name, f'{number} * 100 + rank')};\n"
                          f'          if (adios_write(file, "{full}", &value)) return 5; }}')
        sizes.append(f"{count} * sizeof({kind})")
    with open(path, "w", encoding="ascii") as file:
        file.write(PROGRAM.format(xml=xml.rsplit("/", 1)[1], group=group.get("name"), steps=values.get("steps", 1),
                                  bytes=" + ".join(sizes), writes="\n".join("        " + line for line in writes)))
