"""Reads what Forebay wrote, through the program dump (dump.cc): the same values as bp.read() gives of the original's."""

import json
import subprocess

import numpy

from model import NUMPY, TYPES, Block, Output


def _attribute(found):
    value, kind = bytes.fromhex(found["value"]), TYPES[found["type"]]
    if found["variable"]:
        return ("reference", [found["variable"]])
    if kind == "string":
        return (kind, [value.decode("latin-1")])
    if kind == "string_array":
        return (kind, [text.decode("latin-1") for text in value.split(b"\0")[: found["count"]]])
    return (kind, numpy.frombuffer(value, NUMPY[kind]).tolist())


def _block(found, rank):
    kind = TYPES[found["type"]]
    block = Block(found["name"], kind, rank, tuple(found["shape"]), tuple(found["global"]), tuple(found["offsets"]),
                  bytes.fromhex(found["data"]))
    if "bounds" in found and found["is_array"]:
        block.bounds = tuple(numpy.array(found["bounds"]).astype(NUMPY[kind]))
    return block


def read(path, dump):
    """All steps of a file. Raises ValueError with what the reader says if it cannot be read."""
    said = subprocess.run([dump, path], capture_output=True, text=True, timeout=60, check=False)
    if said.returncode != 0:
        raise ValueError(f"{path} cannot be read: {said.stderr.strip()}")
    found = json.loads(said.stdout)
    if found["is_torn"]:
        raise ValueError(f"{path} has something behind its last step")
    steps = [[] for _ in range(found["steps"])]
    for part in sorted(found["parts"], key=lambda p: (p["step"], p["rank"])):
        steps[part["step"]] += [_block(block, part["rank"]) for block in part["blocks"]]
    attributes = {}
    for each in sorted(found["attributes"], key=lambda a: a["step"]):
        attributes.setdefault(each["name"], _attribute(each))
    return Output(steps, attributes)
