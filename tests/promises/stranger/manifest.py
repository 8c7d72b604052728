"""docs/store.md: sealed text, and the rules of a manifest."""

import json
import re

from .libs import hash64, hash128_hex

MOST = 2**63 - 1
REQUIRED = {"name": str, "created_ns": int, "software": str, "profile": str, "scheme": str, "ranks": int,
            "group_size": int, "containers": list}  # fmt: skip
OPTIONAL = {"step": int, "ordinal": int, "lossy": list, "since_chosen": int, "sources": list, "lost_containers": list,
            "repaired_from": str, "damaged_files": int, "bases": list, "series": str, "run": str, "host": str,
            "command": str}  # fmt: skip
CONTAINER = {"name": str, "bytes": int, "raw_bytes": int, "files": int, "tail_hash": str}
BASE = {"name": str, "created_ns": int, "frames": int, "raw_bytes": int}
MAY_BE_NEGATIVE = {"step", "created_ns"}


class Refused(Exception):
    pass


def require(condition, what):
    if not condition:
        raise Refused(what)


def is_set_name(text):
    return re.fullmatch(r"(?!\.)[A-Za-z0-9._\-+=@,]{1,200}", text) is not None and text != "latest"


def unseal(data, tag, newest):
    first, _, rest = data.partition(b"\n")
    require(first == f"{tag} {hash128_hex(rest)}".encode(), "the first line")
    body = json.loads(rest)
    require(type(body) is dict and type(body.get("version")) is int and body["version"] >= 0, "the version")
    require(body["version"] <= newest, "a newer version")
    return body


def seal(tag, body):
    text = json.dumps(body).encode() + b"\n"
    return f"{tag} {hash128_hex(text)}\n".encode() + text


def check_members(value, required, optional=()):
    require(type(value) is dict, "an object")
    for key, kind in {**required, **dict(optional)}.items():
        if key not in value:
            require(key not in required, f"{key} is missing")
            continue
        require(type(value[key]) is kind, f"the type of {key}")
        if kind is int:
            least = -(2**63) if key in MAY_BE_NEGATIVE else 0
            require(least <= value[key] <= MOST, f"the range of {key}")


def parse(data):
    """The manifest as a dictionary, or Refused."""
    body = unseal(data, "forebay-manifest", 2)
    check_members(body, REQUIRED, OPTIONAL)
    require(body.get("ordinal", 1) >= 1, "ordinals are from 1")
    for key in ("lossy", "sources", "lost_containers"):
        require(all(type(text) is str for text in body.get(key, [])), key)
    for entry in body["containers"]:
        check_members(entry, CONTAINER)
        require(re.fullmatch("[0-9a-f]{16}", entry["tail_hash"]), "tail_hash")
    for key in ("bytes", "raw_bytes", "files"):
        require(sum(entry[key] for entry in body["containers"]) <= MOST, f"the sum of {key}")
    if "bases" in body:
        require(len(body["bases"]) > 0, "bases are never empty")
        check_members(body, {"since_full": int})
        require(body["since_full"] > 0, "since_full")
        for base in body["bases"]:
            check_members(base, BASE)
    check_names(body)
    return body


def check_names(body):
    containers = [entry["name"] for entry in body["containers"]]
    bases = [base["name"] for base in body.get("bases", [])]
    for name in [body["name"], *containers, *bases, *body.get("lost_containers", [])]:
        require(is_set_name(name), f"the name {name!r}")
    if "series" in body:
        require(is_set_name(body["series"]) and len(body["series"]) <= 100, "the name of the series")
    require("manifest" not in containers + body.get("lost_containers", []), "a container named manifest")
    require(len(set(containers)) == len(containers) and len(set(bases)) == len(bases), "a name is there twice")
    require(body["name"] not in bases, "a set is its own base")


def read(store, name):
    body = parse((store / "sets" / name / "manifest").read_bytes())
    require(body["name"] == name, "the name of the directory")
    return body


def tail_hash(data):
    return f"{hash64(data[-64:]):016x}"
