#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the public names of Cardan, one a line: what the installed headers declare in namespace cardan, without detail.

    scripts/public_names.py INCLUDE_FOLDER

docs/public-names.txt has what it printed last, and scripts/deep/api.sh compares: a change to the interface is a line in a diff.
"""
import pathlib
import sys

from clang import cindex

KINDS = cindex.CursorKind
SCOPES = (KINDS.NAMESPACE, KINDS.CLASS_DECL, KINDS.STRUCT_DECL, KINDS.CLASS_TEMPLATE, KINDS.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION)
FUNCTIONS = (KINDS.FUNCTION_DECL, KINDS.CXX_METHOD, KINDS.FUNCTION_TEMPLATE, KINDS.CONSTRUCTOR)
OTHERS = (KINDS.FIELD_DECL, KINDS.VAR_DECL, KINDS.ENUM_CONSTANT_DECL, KINDS.TYPEDEF_DECL, KINDS.TYPE_ALIAS_DECL, KINDS.TYPE_ALIAS_TEMPLATE_DECL, KINDS.CONCEPT_DECL)
HIDDEN = ("detail",)
# protobuf.hpp needs a library that need not be there, and declares no name of its own; so does pcl.hpp.
NOT_READ = ("cardan/protobuf.hpp", "cardan/pcl.hpp")


def walk(cursor, scope, found, public):
    for child in cursor.get_children():
        if not scope and child.spelling != "cardan":
            continue
        if scope and child.location.file and child.location.file.name not in public:
            continue
        if child.access_specifier in (cindex.AccessSpecifier.PRIVATE, cindex.AccessSpecifier.PROTECTED):
            continue
        name = f"{scope}::{child.spelling}" if scope else child.spelling
        if child.kind == KINDS.ENUM_DECL:
            found.add(f"enum {name}")
            walk(child, name, found, public)
        elif child.kind in SCOPES:
            if child.spelling in HIDDEN:
                continue
            if child.kind != KINDS.NAMESPACE and child.is_definition():
                found.add(f"class {scope}::{child.displayname}")
            walk(child, name, found, public)
        elif child.kind in FUNCTIONS and scope and not child.spelling.startswith(("~", "<deduction", "operator=")):
            result = "" if child.kind == KINDS.CONSTRUCTOR else f" -> {child.result_type.spelling}"
            found.add(f"{scope}::{child.displayname}{result}")
        elif child.kind in OTHERS and scope and child.spelling:
            found.add(f"{name} : {child.type.spelling}" if child.type.spelling else name)


def main():
    include = sys.argv[1]
    found = sorted(pathlib.Path(include).rglob("*.hpp"))
    headers = [path.relative_to(include).as_posix() for path in found if "detail" not in path.parts]
    public = {f"{include}/{header}" for header in headers}
    headers = [header for header in headers if header not in NOT_READ]
    found = set()
    source = "".join(f'#include "{header}"\n' for header in headers)
    unit = cindex.Index.create().parse("all.cpp", ["-std=c++20", f"-I{include}", "-I/usr/include/opencv4", "-I/usr/include/eigen3"],
                                       unsaved_files=[("all.cpp", source)], options=cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES)
    errors = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        sys.exit(str(errors[0]))
    walk(unit.cursor, "", found, public)
    print("\n".join(sorted(found)))


if __name__ == "__main__":
    main()
