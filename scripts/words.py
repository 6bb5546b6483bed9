# SPDX-License-Identifier: Apache-2.0
"""Finds wording that CONTRIBUTING.md's section "Words" rules out, in what users read: pages, help and error texts, schemas,
public headers and the Python package; and in the comments and tests' names of all sources and scripts. Prints each place with the better word; part of the test `documents`.
"""
import glob
import re
import sys

NOT_A_PLACE = r"(?! (?:a|an|its|the|this)\b)"
AT_A_START = r"(?:^|[.:;] |/// |// |\"\"\"|\| |- |\*\*)"
NO_QUESTION = r"(?=[^?]*$)"
ROOMS = ("apps", "bench", "demo", "examples", "include", "python", "ros2", "rust", "src", "tests")
RULES = [
    (r"\b[Aa]new\b", "again; rebuild, reopen …"),
    (r"\b[Bb]eside\b", "next to (a place); in addition to; during, with"),
    (r"\b[Bb]ehind (?:damage|it|them|these|this|which)\b", "after; through (a link)"),
    (r"\bstands? (?:above|alone|before|behind|below|between|in|over|there)\b", "is, comes, precedes, follows"),
    (r"\b(?:go|goes|going|went) on\b" + NOT_A_PLACE, "continues"),
    (r"\b[Ss]o (?:many|long as|much ahead)\b|\b(?:after|at least|for|in) so long\b", "this many, this long; as long as"),
    (r"\b(?:a|separate) (?:domain|folder|process|program|thread) of (?:its|our|their) own\b", "its own thread; a separate process"),
    (r"\b[Ss]trangers?\b", "another user, an unknown peer"),
    (r"\b(?:harm|delay)s? nobody's\b|\bharms? nobody\b", "do no damage"),
    (r"\b(?:and|or) nothing of\b|\b[Nn]othing of (?:another|its|our|the(?! kind)|them|this)\b", "no part of, no message of"),
    (r"\b(?:ones?|somebody|those|users?) who\b", "users that …"),
    (r"\b(?:is|are|was|were) said\b", "is reported"),
    (r"\bshall\b", "must, should"),
    (r"\bfor want of\b", "for lack of"),
    (r"\b(?:comes?|came) true\b", "takes effect"),
    (r"\b[Aa]n own\b", "its own, your own, a separate"),
    (r"(?<![Tt]here )\b(?:is|are|was|were) none\b", "is not one; is missing, is unknown"),
    (r"(?<![Tt]here )(?<!why )\b(?:is|are|was|were) no (?!better|faster|less|longer|more|slower|worse)[a-z]", "is not a"),
    (r"\b(?:is|are) named (?:and (?:counted|left)|with (?:its|the|their) reason)|\bnamed and counted\b|\bleft out and named\b", "is reported"),
    (r"\b(?:lost|made|makes|tore) and (?:lost|tore) no\b", "no … was lost or torn"),
    (AT_A_START + r"What [a-z']+ " + NO_QUESTION, "a noun as the subject: messages that …, the result of …"),
    (AT_A_START + r"Who [a-z']+ " + NO_QUESTION, "a noun as the subject: a process that …, users that …"),
]
RULES = [(re.compile(pattern), better) for pattern, better in RULES]


def files(*patterns):
    found = {path for pattern in patterns for path in glob.glob(pattern, recursive=True)}
    return sorted(path for path in found if "_test." not in path and "/target/" not in path)


def pages():
    """Lines without headings, which may ask, and without the section that shows the wrong words."""
    for path in files("*.md", "docs/**/*.md"):
        words = False
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            if line.startswith("#"):
                words = line.startswith("## Words")
            elif not words:
                yield path, number, line


def whole():
    for path in files("include/**/*.h*", "src/**/*.schema.json", "python/cardan/*.py*", "rust/cardan/src/*.rs"):
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            yield path, number, line


def texts():
    """String literals of programs and libraries, as one text where several follow each other."""
    literal = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
    for path in files(*[f"{room}/**/*.{kind}" for room in ("apps", "src", "demo", "python/src") for kind in ("cpp", "hpp", "js")],
                      "bench/main.cpp", "rust/cardan-zenoh/src/*.rs"):
        text = re.sub(r"^\s*//.*$|(?<=[\s;]) // .*$", "", open(path, encoding="utf-8").read(), flags=re.M)
        for found in literal.finditer(text):
            number = text.count("\n", 0, found.start()) + 1
            yield path, number, re.sub(r'"\s*"', "", found.group())[1:-1]
        for found in re.finditer(r'R"(\w*)\((.*?)\)\1"', text, flags=re.S):  # examples of the help
            for number, line in enumerate(found.group(2).split("\n"), text.count("\n", 0, found.start()) + 1):
                yield path, number, line


def comments():
    """Comments line by line, those of tests too. Left out: `code`, Class::member, and an "is no" whose "there" is in the line before."""
    mark = re.compile(r"(?:^|[\s;{},)])(//[/!]?<? .*|/\*\*? .*)")
    hash_mark = re.compile(r"(?:^|\s)# (.*)|(\"\"\".*)")
    skipped = re.compile(r"`[^`]*`|\b\w+::\w+|^///? (?:is|are|was|were) (?=no)")
    for path in [path for room in ROOMS for path in glob.glob(f"{room}/**/*.*", recursive=True)]:
        if path.endswith((".cpp", ".hpp", ".js", ".mjs", ".rs")) and "/target/" not in path:
            for number, line in enumerate(open(path, encoding="utf-8"), 1):
                if found := mark.search(line):
                    yield path, number, skipped.sub("-", found.group(1))
    for path in glob.glob("cmake/*") + [path for room in ROOMS + ("packaging", "scripts") for path in glob.glob(f"{room}/**/*.*", recursive=True)]:
        if path.endswith((".py", ".sh", ".cmake", "CMakeLists.txt")) and path != "scripts/words.py":
            for number, line in enumerate(open(path, encoding="utf-8"), 1):
                if found := hash_mark.search(line):
                    yield path, number, skipped.sub("-", found.group(1) or found.group(2))


def names():
    """Names of tests, as sentences."""
    name = re.compile(r"\bTEST\w*\(\w+, *(\w+)\)|\bdef test_(\w+)\(")
    for path in [path for room in ROOMS for path in glob.glob(f"{room}/**/*test*.*", recursive=True)]:
        if path.endswith((".cpp", ".py")):
            for number, line in enumerate(open(path, encoding="utf-8"), 1):
                if found := name.search(line):
                    words = re.sub(r"(?<=.)(?=[A-Z])|_", " ", found.group(1) or found.group(2))
                    yield path, number, words.capitalize()


wrong = []
for path, number, line in [*pages(), *whole(), *texts(), *comments(), *names()]:
    for pattern, better in RULES:
        for found in pattern.finditer(line.rstrip("\n")):
            wrong.append(f"{path}:{number}: '{found.group().strip()}' — {better}")
print("\n".join(dict.fromkeys(wrong)) if wrong else "no wording that CONTRIBUTING.md rules out")
sys.exit(bool(wrong))
