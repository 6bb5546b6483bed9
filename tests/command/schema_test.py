# SPDX-License-Identifier: Apache-2.0
"""An editor's knowledge of a configuration: each field has a description and a default, and "$schema" leads to the schema.

    schema_test.py CARDAN SOURCE [unittest arguments]
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

CARDAN, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])


def cardan(*words):
    return subprocess.run([CARDAN, *words], capture_output=True, text=True, timeout=60, check=True, stdin=subprocess.DEVNULL).stdout


class Schemas(unittest.TestCase):
    def setUp(self):
        self.schemas = {kind: json.loads(cardan("schema", kind)) for kind in ("run", "bridge")}

    @staticmethod
    def resolved(schema, node):
        """The target of "$ref", with the keys next to it."""
        while "$ref" in node:
            target = schema
            for name in node["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            node = {**target, **{name: value for name, value in node.items() if name != "$ref"}}
        return node

    def fields(self, schema, node, path="", seen=None):
        """Each field once: its path, itself, and whether it may be absent without another one in its place."""
        seen = set() if seen is None else seen
        node = self.resolved(schema, node)
        if json.dumps(node, sort_keys=True) in seen:
            return
        seen.add(json.dumps(node, sort_keys=True))
        needed = {name for one in [node, *node.get("oneOf", [])] for name in one.get("required", [])}
        for name, value in node.get("properties", {}).items():
            yield f"{path}/{name}", self.resolved(schema, value), name not in needed and name != "$schema"
            yield from self.fields(schema, value, f"{path}/{name}", seen)
        for below in [node.get("items"), node.get("additionalProperties"), *node.get("oneOf", []), *node.get("anyOf", [])]:
            if isinstance(below, dict):
                yield from self.fields(schema, below, f"{path}/*", seen)

    def test_each_field_has_a_description(self):
        for kind, schema in self.schemas.items():
            found = list(self.fields(schema, schema))
            self.assertGreater(len(found), 30, kind)
            for path, field, _ in found:
                words = field.get("description", "")
                self.assertGreater(len(words), 10, f"{kind}: {path}")
                self.assertRegex(words, r"[.)]$", f"{kind}: {path} does not end as a sentence")

    def test_each_field_that_may_be_absent_says_what_then_holds(self):
        for kind, schema in self.schemas.items():
            count = 0
            for path, field, optional in self.fields(schema, schema):
                # An object has its defaults inside.
                if optional and field.get("type") != "object":
                    count += 1
                    self.assertTrue("default" in field or "Default: " in field.get("description", ""), f"{kind}: {path} has no default")
            self.assertGreater(count, 20, kind)

    def test_the_examples_name_the_schema_of_the_tree(self):
        found = 0
        for path in [*SOURCE.glob("examples/**/*.json"), *SOURCE.glob("demo/*.json")]:
            text = path.read_text(encoding="utf-8")
            if '"processes"' not in text and '"include"' not in text:
                continue
            named = re.findall(r'"\$schema": "([^"]+)"', text)  # such a file may have comments
            self.assertEqual(len(named), 1, path)
            self.assertEqual(json.loads((path.parent / named[0]).read_text(encoding="utf-8")), self.schemas["run"], path)
            found += 1
        self.assertGreaterEqual(found, 3)

    def test_the_path_is_that_of_the_printed_schema(self):
        for kind, schema in self.schemas.items():
            self.assertEqual(json.loads(pathlib.Path(cardan("schema", kind, "--path").strip()).read_text(encoding="utf-8")), schema)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
