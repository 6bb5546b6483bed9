#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/configuration.md: a table of all keys of the configuration file, made from its schema.

    configuration_page.py           writes it
    configuration_page.py --check   says whether it is current (exit code 1: it is not)
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "src/config/cardan.schema.json"
PAGE = ROOT / "docs/configuration.md"

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by scripts/configuration_page.py from src/config/cardan.schema.json. Change the schema, and run the script. -->
# The configuration file: all keys

[runtime.md](runtime.md#the-configuration-file) says how a file is written, with examples. This page lists each key. Comments (`//` and `/* */`) are
allowed in a file. `cardan check FILE` finds every error at once, and editors complete the keys with the
[schema](../src/config/cardan.schema.json). Where a text with a variable is allowed (`"${rate}"`), the table does not say so again.
"""

# Words for the patterns of the schema.
NAMES = {
    "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$": "name",
    "^[A-Za-z0-9_-]{1,48}$": "name",
    "^/[^\\u0000-\\u0020\\u007f]{1,254}$": "topic",
    "^[^\\u0000-\\u001f\\u007f/][^\\u0000-\\u001f\\u007f]{0,59}$": "frame",
    "^[A-Za-z_][A-Za-z0-9_]{0,63}$": "variable",
    "^[^\\u0000-\\u0020\\u007f=]+$": "variable",
    "^[^\\u0000-\\u001f\\u007f]+$": "text",
}


class Page:
    def __init__(self, schema):
        self.schema = schema
        self.order = [("", schema)]

    def target(self, node):
        """The target of "$ref", with the name of its section."""
        reference = node.get("$ref", "")
        if not reference.startswith("#/$defs/"):
            return "", node
        name = reference.removeprefix("#/$defs/")
        found = self.schema["$defs"][name]
        if "properties" in found and name not in [one for one, _ in self.order]:
            self.order.append((name, found))
        return name, found

    def link(self, name):
        return f"[{name.replace('_', ' ')}](#{name.replace('_', '-')})"

    def value(self, node):
        """In words: "number, 0 to 31", "[thread](#thread)"."""
        name, found = self.target(node)
        if name and "properties" in found:
            return self.link(name)
        node = {**found, **{key: value for key, value in node.items() if key != "$ref"}}
        if "anyOf" in node:
            return " or ".join(self.value(one) for one in node["anyOf"] if one.get("$ref") != "#/$defs/variable")
        if "oneOf" in node and "type" not in node:
            return f"{self.value(node['oneOf'][0])}, or a list"
        if "enum" in node:
            return ", ".join(f"`{one}`" for one in node["enum"])
        kind = node.get("type")
        if isinstance(kind, list):
            return ", ".join({"string": "text", "array": "list of these"}.get(one, one) for one in kind)
        if kind == "array":
            length = f" of {node['minItems']}" if node.get("minItems") == node.get("maxItems", 0) else ""
            return f"list{length}: {self.value(node['items'])}"
        if kind == "object":
            return f"{self.key(node['propertyNames'])} → {self.value(node['additionalProperties'])}"
        if kind in ("integer", "number"):
            return f"{kind}, {self.number(node['minimum'])} to {self.number(node['maximum'])}"
        return NAMES.get(node.get("pattern", ""), "text") if kind == "string" else kind

    @staticmethod
    def number(value):
        short = f"{value:g}".replace("e+0", "e").replace("e+", "e")
        return short if "e" in short and float(short) == value else str(value)

    @staticmethod
    def key(node):
        return NAMES.get(node.get("pattern", ""), "text")

    @staticmethod
    def default(node):
        return f"`{json.dumps(node['default'])}`" if "default" in node else ""

    @staticmethod
    def cell(text):
        return text.replace("|", "\\|")

    def section(self, name, node):
        title = name.replace("_", " ") if name else "The file"
        lines = ["", f"## {title}", "", self.wrapped(node["description"]), "", "| key | value | default | meaning |", "|---|---|---|---|"]
        for key, property in node["properties"].items():
            value = self.value(property)
            _, found = self.target(property)
            description = property.get("description", found.get("description", ""))
            needed = " (needed)" if key in node.get("required", []) else ""
            lines.append(f"| `{key}`{needed} | {self.cell(value)} | {self.cell(self.default(property))} | {self.cell(description)} |")
        return lines

    @staticmethod
    def wrapped(text):
        lines, line = [], ""
        for word in text.split():
            if line and len(line) + 1 + len(word) > 140:
                lines.append(line)
                line = ""
            line = f"{line} {word}".strip()
        return "\n".join([*lines, line])

    def text(self):
        lines, at = [HEAD.rstrip("\n")], 0
        while at < len(self.order):  # a section may add others
            lines += self.section(*self.order[at])
            at += 1
        return "\n".join(lines) + "\n"


def main():
    text = Page(json.loads(SCHEMA.read_text())).text()
    if sys.argv[1:] == ["--check"]:
        if PAGE.exists() and PAGE.read_text() == text:
            return 0
        print(f"{PAGE.relative_to(ROOT)} is not what {SCHEMA.relative_to(ROOT)} says: run scripts/configuration_page.py")
        return 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
