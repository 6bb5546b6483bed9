#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables by which configurations and rules of bridges are read, made from the schemas that editors use.

    shape_tables.py           writes src/config/shape_table.hpp and src/bridge/rules_table.hpp
    shape_tables.py --check   says whether they are current (exit code 1: they are not)
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONFIG, BRIDGE = ROOT / "src/config", ROOT / "src/bridge"
# The schema, the header with its enumerations, the table, and what the table's head is.
TABLES = [
    (CONFIG / "cardan.schema.json", CONFIG / "shape.hpp", CONFIG / "shape_table.hpp", "file", "cardan::config", ""),
    (BRIDGE / "bridge.schema.json", BRIDGE / "rules_shape.hpp", BRIDGE / "rules_table.hpp", "bridge", "cardan::bridge", "using config::Field;\nusing config::Format;\nusing config::Shape;\n"),
]
VARIABLE = {"$ref": "#/$defs/variable"}
SCALAR = ["boolean", "number", "string"]
KINDS = {"boolean": "Boolean", "integer": "Integer", "number": "Number", "string": "Text"}


def formats():
    """Pattern → Format, as pattern() of shape.cpp has them."""
    text = (CONFIG / "shape.cpp").read_text()
    found = re.findall(r'case Format::(\w+):\n\s+return ("[^\n]*");', text[text.index("std::string_view pattern(Format format)"):])
    return {json.loads(pattern): name for name, pattern in found}


def enumerations(header):
    """Name → words, of the arrays that are in the order of C++'s enumerations."""
    text = header.read_text()
    found = re.findall(r"inline constexpr std::array<std::string_view, \d+> (k\w+)\{([^}]*)\};", text)
    words = {name: re.findall(r'"(\w+)"', list_) for name, list_ in found}
    kinds = re.findall(r'BridgeKind\{"(\w+)"', text)
    return {**words, **({"kBridgeKinds": kinds} if kinds else {})}


class Table:
    def __init__(self, schema, enumerations_, formats_):
        self.schema, self.enumerations, self.formats = schema, enumerations_, formats_
        self.lines, self.names, self.shapes = [], {}, {}

    def constant(self, kind, name, value):
        """The name of a constant with that value: what is equal is there once."""
        if (kind, value) not in self.names:
            name = "k" + "".join(part.capitalize() for part in name.split("_"))
            while name in self.names.values():
                name += "_"
            self.names[kind, value] = name
            self.lines.append(f"constexpr {kind} {name}{value};")
        return self.names[kind, value]

    def target(self, node):
        reference = node.get("$ref", "")
        if not reference.startswith("#/$defs/"):
            return "", node
        name = reference.removeprefix("#/$defs/")
        return name, {**self.schema["$defs"][name], **{k: v for k, v in node.items() if k != "$ref"}}

    def choices(self, words):
        for name, all_ in self.enumerations.items():
            if all_ == words:
                return name
        for name, all_ in self.enumerations.items():
            for at in range(len(all_)):
                if all_[at:at + len(words)] == words:
                    return f"std::span({name}).subspan<{at}, {len(words)}>()"
        raise SystemExit(f"no enumeration of the header has the words {words}, in this order")

    def shape(self, title, node, required=None):
        if title not in self.shapes:
            needed = node.get("required", [])
            if "anyOf" in node:  # the processes may be in included files
                needed = node["anyOf"][0]["required"]
            either = [one["required"] for one in node.get("oneOf", [])]
            fields = []
            for key, value in node["properties"].items():
                extra = {}
                if key in needed:
                    extra["required"] = "true"
                if len(either) == 2 and key in either[0]:
                    others = ", ".join(json.dumps(word) for word in either[1])
                    extra = {"required": "true", "choices": self.constant(f"std::array<std::string_view, {len(either[1])}>", f"{title}_others", "{" + others + "}")}
                fields.append("    " + self.field(value, f"{title}_{key}", key, extra) + ",\n")
            name = "k" + "".join(part.capitalize() for part in title.split("_"))
            self.lines.append(f"constexpr std::array {name}Fields{{\n{''.join(fields)}}};\nconstexpr Shape {name}Shape{{{json.dumps(title.replace('_', ' '))}, {name}Fields}};")
            self.shapes[title] = f"{name}Shape"
        return self.shapes[title]

    def element(self, node, name):
        return "&" + self.constant("Field", f"{name}_element", self.field(node, name).removeprefix("Field"))

    def field(self, node, path, name="", extra=None):
        title, node = self.target(node)
        if node.get("anyOf", [None])[-1] == VARIABLE:
            _, inner = self.target(node["anyOf"][0])
            node = {**node, **inner}
        kind, out = node.get("type"), {}
        if "properties" in node:
            out = {"kind": "Object", "object": "&" + self.shape(title or name, node)}
        elif "oneOf" in node:
            out = {"kind": "OneOrMore", "element": self.element(node["oneOf"][0], path)}
        elif "enum" in node:
            out = {"kind": "Choice", "choices": self.choices(node["enum"])}
        elif kind == ["boolean", "string"]:
            out = {"kind": "Condition"}
        elif kind in (SCALAR, [*SCALAR, "array"]):
            out = {"kind": "Scalar" if kind == SCALAR else "ScalarOrList"}
        elif kind == "array":
            out = {"kind": "List", "element": self.element(node["items"], path)}
            plain = "properties" not in self.target(node["items"])[1]
            if plain and not node.get("uniqueItems", False):
                out["repeats"] = "true"
        elif kind == "object":
            out = {"kind": "Map", "format": self.format(node["propertyNames"]), "element": self.element(node["additionalProperties"], path)}
        else:
            out = {"kind": KINDS[kind]}
            if kind == "string":
                out["format"] = self.format(node)
            elif kind != "boolean":
                out |= {"min": repr(node["minimum"]), "max": repr(node["maximum"])}
        out["kind"] = f"Field::Kind::{out['kind']}"
        out |= extra or {}
        if name:
            out["name"] = json.dumps(name)
        order = ["name", "kind", "required", "min", "max", "format", "choices", "object", "element", "repeats"]
        return "Field{" + ", ".join(f".{key} = {out[key]}" for key in order if key in out) + "}"

    def format(self, node):
        return f"Format::{self.formats[node.get('pattern', '')]}"


def text_of(schema, header, title, namespace, using):
    table = Table(json.loads(schema.read_text()), enumerations(header), formats())
    table.shape(title, table.schema)
    body = "\n".join(table.lines)
    include = header.relative_to(ROOT)
    return f"""// SPDX-License-Identifier: Apache-2.0
// Made by scripts/shape_tables.py from {schema.relative_to(ROOT)}. Change the schema, and run the script.
#pragma once
// clang-format off

#include <array>
#include <span>
#include <string_view>

#include "{include}"

namespace {namespace}::table {{

{using}{body}

}}  // namespace {namespace}::table
"""


def main():
    current = True
    for schema, header, path, title, namespace, using in TABLES:
        text = text_of(schema, header, title, namespace, using)
        if sys.argv[1:] != ["--check"]:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path.relative_to(ROOT)} is not what {schema.relative_to(ROOT)} says: run scripts/shape_tables.py")
            current = False
    return 0 if current else 1


if __name__ == "__main__":
    sys.exit(main())
