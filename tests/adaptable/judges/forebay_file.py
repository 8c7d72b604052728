"""Reads what Forebay wrote, through adaptable_dump: the same values as bp.read() gives of the original's."""

import json
import os
import subprocess

import numpy

from model import NUMPY, Block, Output

# What Forebay calls the types of model.TYPES.
NAMES = {
    "byte": "int8", "short": "int16", "integer": "int32", "long long": "int64", "real": "float32", "double": "float64",
    "long double": "long_double", "string": "string", "complex": "complex64", "double complex": "complex128",
    "string array": "string_array", "unsigned byte": "uint8", "unsigned short": "uint16", "unsigned integer": "uint32",
    "unsigned long long": "uint64",
}  # fmt: skip


def _attribute(found):
    kind = NAMES[found["type"]]
    if "variable" in found:
        return ("reference", [found["variable"]])
    value = found["value"]
    return (kind, [value] if isinstance(value, str) else value)


def _block(found, rank, data):
    block = Block(found["name"], NAMES[found["type"]], rank, tuple(found["shape"]), tuple(found["global_shape"]),
                  tuple(found["offsets"]), data)
    said = found["characteristics"]
    if found["array"] and said["count"] > 0:
        block.bounds = tuple(numpy.array([float(said["min"]), float(said["max"])]).astype(NUMPY[block.type]))
    return block


def read(path, dump):
    """All steps of a file. Raises ValueError with what the reader says if it cannot be read."""
    values = path + ".values"
    said = subprocess.run([dump, path, "--bytes", values], capture_output=True, text=True, timeout=60, check=False)
    if said.returncode != 0:
        raise ValueError(f"{path} cannot be read: {said.stderr.strip()}")
    found = json.loads(said.stdout)
    if found["torn"]:
        raise ValueError(f"{path} has something behind its last step")
    parts = []
    with open(values, "rb") as file:
        for part in found["parts"]:
            blocks = [_block(block, part["rank"], file.read(block["bytes"])) for block in part.get("blocks", [])]
            parts.append((part["step"], part["rank"], blocks))
    os.remove(values)
    steps = [[] for _ in range(found["steps"])]
    for step, _, blocks in sorted(parts, key=lambda part: part[:2]):
        steps[step] += blocks
    attributes = {}
    for each in sorted(found["attributes"], key=lambda a: a["step"]):
        attributes.setdefault(each["name"], _attribute(each))
    return Output(steps, attributes)
