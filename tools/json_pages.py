#!/usr/bin/env python3
"""Writes what docs/json.md and the manual page say of verbs from docs/json/*.schema.json, and checks how fields are called.

--check: only says whether they are as written.
"""

import json
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/json.md"
MANUAL = ROOT / "docs/man/forebay.1"
MANUAL_MARKS = (".\\\" Written by tools/json_pages.py from docs/json/*.schema.json.\n", ".\\\" End of what it writes.\n")
MARK = "<!-- The rest is written by tools/json_pages.py from docs/json/*.schema.json. -->\n"
COMMON = "common.schema.json"
LEAVES = ("text", "text_or_null")  # of the common ones, those that are no tables
UNITS = {"bytes": "bytes", "seconds": "seconds", "percent": "percent", "bytes_per_second": "bytes a second", "byte": "bytes"}

# Integers and numbers whose names end with no unit: identifiers, labels, places, and numbers without a dimension.
UNITLESS = set("""
a_number rank step number ordinal pid id session lock waits_for frame offset mode level container_index container_format generation
exit_code end_signal group_size flush_every stored_every power coefficient bits_per_element bound max_error max_absolute ratio
min max sum sum_of_squares time efficiency best_efficiency survived
seconds_since_offer fetch encode write
""".split())  # fmt: skip

DOCUMENTS = {path.name: json.loads(path.read_text()) for path in sorted((ROOT / "docs/json").glob("*.schema.json"))}


def resolve(schema, file):
    """The schema that is meant, and its file; null: a leaf, or a document of another verb."""
    while "$ref" in schema:
        name, _, pointer = schema["$ref"].partition("#")
        if (name or file) not in (file, COMMON) or pointer.split("/")[-1] in LEAVES:
            return schema, file
        file, found = name or file, DOCUMENTS[name or file]
        for key in filter(None, pointer.split("/")):
            found = found[key]
        schema = found
    return schema, file


def referred(schema):
    return schema.get("$ref", "").split("/")[-1]


def kinds(schema, file):
    """The types of values, as words; text that may have odd bytes is `name`."""
    schema, file = resolve(schema, file)
    if referred(schema) in LEAVES:
        return ["name"] + (["null"] if referred(schema) == "text_or_null" else [])
    if "$ref" in schema:
        return ["object"]
    if "anyOf" in schema:
        return [kind for one in schema["anyOf"] for kind in kinds(one, file)]
    if "enum" in schema:
        return ["null" if value is None else f'"{value}"' for value in schema["enum"]]
    types = schema["type"]
    types = [types] if isinstance(types, str) else types
    if schema.get("format") == "date-time":
        types = ["time" if one == "string" else one for one in types]
    if "array" in types:
        items = [kind for kind in kinds(schema["items"], file)]
        types = [f"list of {' or '.join(items)}" if one == "array" else one for one in types]
    return types


def children(schema, file):
    """(name, schema, file) of what is below a field: its members, those of its items, or those of any key."""
    schema, file = resolve(schema, file)
    for one in schema.get("anyOf", []):
        if "$ref" in one and referred(one) not in LEAVES:
            yield from children(one, file)
    for name, field in schema.get("properties", {}).items():
        yield f".{name}", field, file
    if "items" in schema:
        for name, field, of in children(schema["items"], file):
            yield f"[]{name}", field, of
    if isinstance(schema.get("additionalProperties"), dict):
        for name, field, of in children(schema["additionalProperties"], file):
            yield f".KEY{name}", field, of


def optional(schema, file):
    schema, _ = resolve(schema, file)
    return set(schema.get("properties", {})) - set(schema.get("required", []))


def unit(name, schema, file):
    if "time" in kinds(schema, file):
        return "UTC"
    if name.endswith("_count"):
        return "count"
    matching = [end for end in UNITS if name == end or name.endswith(f"_{end}")]
    return UNITS[max(matching, key=len)] if matching else "seconds" if "seconds_" in name else ""


def rows(schema, file, above=""):
    for path, field, of in children(schema, file):
        name = re.split(r"[.\]]", path)[-1]
        full = (above + path).lstrip(".")
        meaning = field.get("description", "").replace("|", "\\|")
        other = next((one["$ref"] for one in [field, *field.get("anyOf", [])] if ".schema.json#" in one.get("$ref", "") and COMMON not in one["$ref"]), None)
        if other and other.split(".")[0] != file.split(".")[0]:
            verb = other.split(".")[0]
            meaning += f" ([{verb}](#{verb}))"
        yield f"| `{full}` | {' or '.join(kinds(field, of))} | {unit(name, field, of)} | {meaning} |"
        yield from rows(field, of, above + path)


def lines(text):
    return textwrap.wrap(text, 130, break_long_words=False, break_on_hyphens=False)


def section(file, document):
    name = file.split(".")[0]
    out = [f"## {name if name != 'version' else '--version'}", "", *lines(f"{document['description']} Schema: [{file}](json/{file})."), ""]
    for choice in document["anyOf"]:
        if referred(choice) == "failure":
            continue
        form = document["$defs"][referred(choice)]
        out += [f"**{form['title']}**", ""]
        if "$ref" in form:
            verb = form["$ref"].split(".")[0]
            out += [f"As [{verb}](#{verb}).", ""]
            continue
        out += ["| field | type | unit | meaning |", "|---|---|---|---|", *rows(form, file), ""]
        absent = sorted(optional(form, file))
        if absent:
            out += [*lines(f"Absent if not asked for: {', '.join(f'`{one}`' for one in absent)}."), ""]
    return out


def common_section():
    out = ["## Errors", "", "Every verb prints this document when it fails, and nothing else.", "", "| field | type | unit | meaning |", "|---|---|---|---|"]
    return out + [*rows(DOCUMENTS[COMMON]["$defs"]["failure"], COMMON), ""]


def page():
    static = PAGE.read_text().split(MARK)[0]
    out = common_section()
    for file, document in DOCUMENTS.items():
        if file != COMMON:
            out += section(file, document)
    return static + MARK + "\n" + "\n".join(out).rstrip() + "\n"


def outline(schema, file):
    """Names of fields, with those below them in parentheses."""
    tree = {}
    for path, field, of in children(schema, file):
        name = re.sub(r"^[.\[\]]+|KEY\.", "", path)
        below = outline(field, of)
        tree[name] = f"{name} ({below})" if below else name
    return ", ".join(tree.values())


def manual_entry(file, document):
    name = file.split(".")[0]
    out = [".TP", ".B \\-\\-version" if name == "version" else f".B {name}", ".nh", ".ad l"]
    for choice in document["anyOf"]:
        form = document["$defs"].get(referred(choice))
        if not form:
            continue
        text = "the document of run" if "$ref" in form else outline(form, file)
        if len(document["$defs"]) > 1 and sum(referred(one) != "failure" for one in document["anyOf"]) > 1:
            text = f"{form['title']}: {text}."
            out += [".br"] if out[-1] != ".ad l" else []
        out += textwrap.wrap(text.replace("-", "\\-"), 120, break_long_words=False, break_on_hyphens=False)
    return out


def manual():
    text = MANUAL.read_text()
    before, rest = text.split(MANUAL_MARKS[0])
    after = rest.split(MANUAL_MARKS[1])[1]
    lines = [line for file, document in DOCUMENTS.items() if file != COMMON for line in manual_entry(file, document)]
    return before + MANUAL_MARKS[0] + "\n".join(lines) + "\n.hy\n.ad b\n" + MANUAL_MARKS[1] + after


def fields(schema, file):
    """(place, name, schema) of every field of a schema, those behind references not."""
    for name, field in schema.get("properties", {}).items():
        yield f"{file}: {name}", name, field
        yield from fields(field, file)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from fields(schema[key], file)
    for one in [*schema.get("anyOf", []), *schema.get("$defs", {}).values()]:
        yield from fields(one, file)


def shape(schema, file):
    """What a field is, without regard to null: one name has one shape everywhere."""
    words = set()
    for kind in kinds(schema, file):
        if kind.startswith("list"):
            words.add("list")
        elif kind.startswith('"') or kind in ("name", "string"):
            words.add("text")
        elif kind in ("integer", "number"):
            words.add("number")
        elif kind != "null":
            words.add(kind)
    return "/".join(sorted(words))


def name_faults():
    found, shapes = [], {}
    for file, document in DOCUMENTS.items():
        for place, name, field in fields(document, file):
            is_ = shape(field, file)
            shapes.setdefault(name, {}).setdefault(is_, file)
            if not field.get("description") and "$ref" not in field:
                found.append(f"{place} has no description")
            if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
                found.append(f"{place} is not in snake_case")
            if name.endswith("_count") and is_ != "number":
                found.append(f"{place} is called like a count, and is a {is_}")
            if is_ == "number" and not unit(name, field, file) and name not in UNITLESS:
                found.append(f"{place} is a number, and its name has no unit")
            if field.get("type") == "object" and "properties" in field and field.get("additionalProperties") is not False:
                found.append(f"{place} takes fields that are not documented")
    for name, known in shapes.items():
        if len(known) > 1:
            found.append(f"'{name}' is a " + ", and a ".join(f"{is_} ({file})" for is_, file in known.items()))
    return found


def main():
    faults = name_faults()
    for fault in faults:
        print(f"docs/json: {fault}")
    for path, wanted in ((PAGE, page()), (MANUAL, manual())):
        if "--check" not in sys.argv:
            path.write_text(wanted)
        elif path.read_text() != wanted:
            faults.append(path.name)
            print(f"{path.relative_to(ROOT)} is not what tools/json_pages.py writes")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
