"""The part of JSON Schema (draft 2020-12) that docs/json uses. A schema that uses more is an error, not ignored."""

import json
import re

SAYS_NOTHING = {"$schema", "$id", "$defs", "title", "description"}
TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
}
TIME = re.compile(r"\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


class Schemas:
    """The schemas of a directory, which refer to each other by the names of their files."""

    def __init__(self, directory):
        self.documents = {path.name: json.loads(path.read_text()) for path in sorted(directory.glob("*.schema.json"))}

    def resolve(self, reference, file):
        """What a $ref in `file` means: the file, and the schema there."""
        name, _, pointer = reference.partition("#")
        schema = self.documents[name or file]
        for key in filter(None, pointer.split("/")):
            schema = schema[key]
        return name or file, schema

    def faults(self, value, file, schema=None, place="$"):
        """What is wrong with `value`, one line for each fault."""
        schema = self.documents[file] if schema is None else schema
        found = []
        for keyword, argument in schema.items():
            if keyword not in SAYS_NOTHING:
                found += getattr(self, CHECKS[keyword])(value, argument, schema, file, place)
        return found

    def _reference(self, value, reference, _, file, place):
        return self.faults(value, *self.resolve(reference, file), place)

    def _type(self, value, types, _, __, place):
        types = [types] if isinstance(types, str) else types
        return [] if any(TYPES[one](value) for one in types) else [f"{place} is {value!r:.80}, not {' or '.join(types)}"]

    def _enum(self, value, values, _, __, place):
        return [] if value in values else [f"{place} is {value!r:.80}, none of {values}"]

    def _any(self, value, choices, _, file, place):
        tried = [self.faults(value, file, choice, place) for choice in choices]
        return min(tried, key=lambda faults: (len(faults), faults))

    def _properties(self, value, properties, _, file, place):
        if not isinstance(value, dict):
            return []
        return [fault for name in properties if name in value for fault in self.faults(value[name], file, properties[name], f"{place}.{name}")]

    def _required(self, value, names, _, __, place):
        return [f"{place} lacks {name}" for name in names if isinstance(value, dict) and name not in value]

    def _additional(self, value, wanted, schema, file, place):
        others = [name for name in value if name not in schema.get("properties", {})] if isinstance(value, dict) else []
        if wanted is False:
            return [f"{place}.{name} is in no schema" for name in others]
        return [fault for name in others for fault in self.faults(value[name], file, wanted, f"{place}.{name}")]

    def _items(self, value, items, _, file, place):
        if not isinstance(value, list):
            return []
        return [fault for i, one in enumerate(value) for fault in self.faults(one, file, items, f"{place}[{i}]")]

    def _minimum(self, value, least, _, __, place):
        return [f"{place} is {value}, less than {least}"] if TYPES["number"](value) and value < least else []

    def _format(self, value, name, _, __, place):
        if name != "date-time":
            raise KeyError(name)
        return [f"{place} is {value!r:.80}, not a time in UTC"] if isinstance(value, str) and not TIME.fullmatch(value) else []


CHECKS = {
    "$ref": "_reference", "type": "_type", "enum": "_enum", "anyOf": "_any", "properties": "_properties", "required": "_required",
    "additionalProperties": "_additional", "items": "_items", "minimum": "_minimum", "format": "_format",
}  # fmt: skip
