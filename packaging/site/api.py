# SPDX-License-Identifier: Apache-2.0
"""The public interface, as Doxygen reads it from the headers. A module of reference.py; as a program it prints the names, one a line.

    packaging/site/api.py > docs/public-names.txt
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEAST_DOXYGEN = (1, 9, 2)
DOXYFILE = """
INPUT = {headers}
OUTPUT_DIRECTORY = "{folder}"
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
QUIET = YES
STRIP_FROM_PATH = .
EXTRACT_ALL = YES
EXCLUDE_SYMBOLS = *::detail *::detail::*
# Not a declaration of a function.
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = "CARDAN_STANDARD_MESSAGE_(...)="
# A mistake in a comment fails the build; a parameter need not be described.
WARN_IF_UNDOCUMENTED = NO
WARN_IF_DOC_ERROR = YES
WARN_IF_INCOMPLETE_DOC = NO
WARN_NO_PARAMDOC = NO
"""


class Problem(Exception):
    """For people: a comment or a header that the reference cannot show."""


def headers():
    """The public headers, from the root. The one place that knows where they are."""
    found = [path.relative_to(ROOT) for path in sorted((ROOT / "include").rglob("*.h*"))]
    return [path.as_posix() for path in found if "detail" not in path.parts]


def include_of(header):
    """As programs write it."""
    return header.removeprefix("include/")


class Declaration:
    """A class, function, variable, … of namespace or class scope, with Doxygen's element."""

    def __init__(self, element, scope):
        self.element, self.kind, self.scope = element, element.get("kind"), scope
        self.id = element.get("id")
        self.name = re.sub(r" ?([<>]) ?", r"\1", element.findtext("compoundname") or element.findtext("name"))
        place = element.find("location")
        self.header, self.line = place.get("file"), int(place.get("line"))
        self.members = []

    def full_name(self):
        return f"{self.scope}::{self.name}" if self.scope else self.name

    def is_shown(self):
        """Private parts and macros of the inside are not."""
        return self.element.get("prot", "public") == "public" and self.kind != "friend" and not (self.kind == "define" and self.name.endswith("_"))


def doxygen_version():
    """() where it is not installed."""
    if shutil.which("doxygen") is None:
        return ()
    return tuple(int(part) for part in re.findall(r"\d+", subprocess.check_output(["doxygen", "--version"], text=True))[:3])


def run_doxygen(folder):
    if doxygen_version() < LEAST_DOXYGEN:
        raise Problem("Doxygen 1.9.2 or newer is needed, which knows concepts — scripts/setup.sh --for site installs it on Debian 12")
    text = DOXYFILE.format(headers=" ".join(headers()), folder=folder)
    done = subprocess.run(["doxygen", "-"], input=text, cwd=ROOT, text=True, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    if done.returncode or done.stderr.strip():
        raise Problem(f"Doxygen reports mistakes in the headers' comments:\n{done.stderr.strip()}")


def read():
    """The declarations of the headers, and their own comments: (declarations in the order of the headers' lines, header → element)."""
    with tempfile.TemporaryDirectory(prefix="cardan-api-") as folder:
        run_doxygen(folder)
        roots = [xml.etree.ElementTree.parse(path).getroot() for path in sorted(pathlib.Path(folder, "xml").glob("*.xml"))]
    compounds = [root[0] for root in roots if root.tag == "doxygen" and root[0].tag == "compounddef"]
    found, files = [], {}
    for compound in compounds:
        kind, scope = compound.get("kind"), compound.findtext("compoundname")
        if kind == "file":
            files[compound.find("location").get("file")] = compound
        if kind in ("class", "struct", "union", "concept"):
            whole = Declaration(compound, "")
            if whole.is_shown():
                found.append(whole)
                whole.members = [m for m in (Declaration(e, whole.name) for e in compound.iter("memberdef")) if m.is_shown()]
        elif kind in ("namespace", "file"):
            found += [m for m in (Declaration(e, scope if kind == "namespace" else "") for e in compound.iter("memberdef")) if m.is_shown()]
    hidden = {e.get("id") for e in (c for c in compounds if c.get("prot", "public") != "public")}
    classes = {d.name.partition("<")[0] for d in found if d.kind in ("class", "struct")}
    # A deduction guide looks like a function.
    found = [d for d in found if d.id not in hidden and not (d.kind == "function" and d.full_name() in classes)]
    return sorted(found, key=lambda d: (d.header, d.line)), files


def tidy(code):
    """C++ as clang-format spaces it, of Doxygen's tokens."""
    code = re.sub(r"\s+", " ", code).strip()
    code = re.sub(r"< (?=[^=<])", "<", code)
    code = re.sub(r"(?<=[^<=-]) >", ">", code)
    code = re.sub(r" ([&*]+)(\.\.\.)?(?=[^\s&*.]|$)", r"\1\2 ", code)
    return re.sub(r"(?<=[&*.]) (?=[),>]|$)", "", code)


def text_of(element):
    return tidy("".join(element.itertext())) if element is not None else ""


def parameters(declaration):
    return ", ".join(text_of(p.find("type")) for p in declaration.element.findall("param"))


def names(declared):
    for declaration in declared:
        name, kind, result = declaration.full_name(), declaration.kind, text_of(declaration.element.find("type")).removeprefix("constexpr ")
        if kind in ("class", "struct", "union", "concept"):
            yield f"class {name}"
            yield from names(m for m in declaration.members if not m.name.startswith(("~", "operator=")))
        elif kind == "enum":
            named = "@" not in name
            if named:
                yield f"enum {name}"
            for value in declaration.element.findall("enumvalue"):
                scope = name if named else declaration.scope
                yield f"{scope}::{value.findtext('name')}".removeprefix("::") + (f" : {name}" if named else "")
        elif kind == "function":
            qualifier = " const" if declaration.element.get("const") == "yes" else ""
            yield f"{name}({parameters(declaration)}){qualifier}" + (f" -> {result}" if result else "")
        elif kind == "define":
            yield f"#define {name}"
        else:
            yield f"{name} : {result}"


if __name__ == "__main__":
    try:
        print("\n".join(sorted(set(names(read()[0])))))
    except Problem as problem:
        sys.exit(f"api.py: {problem}")
