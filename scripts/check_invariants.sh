#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One numbering of the protocols' invariants: src/transport/protocol/invariants.hpp has them; documents, models, order table and
# comments use its numbers and its words. Prints what differs.
set -euo pipefail
cd "$(dirname "$0")/.."
python3 - <<'PYTHON'
import glob, re, sys

read = lambda path: open(path, encoding="utf-8").read()
registry = {n: (name, text) for n, name, text in re.findall(r'X\((I\d+), "([^"]*)", "([^"]*)"\)', read("src/transport/protocol/invariants.hpp"))}
wrong = []
if list(registry) != [f"I{i + 1}" for i in range(len(registry))]:
    wrong.append("invariants.hpp: the numbers are not I1, I2, …")

files = (glob.glob("docs/protocols/*.md") + glob.glob("src/transport/protocol/*_protocol.hpp") + glob.glob("tests/model/*.pml")
         + glob.glob("tests/checker/*.?pp") + ["src/transport/protocol/order_table.hpp", "src/transport/endpoint/own_samples.hpp", "tests/model/run_models.sh"])
used = set()
for path in files:
    for number, line in enumerate(read(path).splitlines(), 1):
        if "litmus" in path:
            continue
        for mention in re.findall(r"\bI\d+\b", line):
            used.add(mention)
            if mention not in registry:
                wrong.append(f"{path}:{number}: there is no {mention}")
        for other in re.findall(r"\b[JK]\d\b", line):
            wrong.append(f"{path}:{number}: {other} is a number of another kind; invariants are I1, I2, …")

# Where a name follows the number, it is the invariant's.
for path in ["src/transport/protocol/order_table.hpp", *glob.glob("docs/protocols/*.md")]:
    for row in read(path).splitlines():
        if not (row.lstrip().startswith("X(") or re.match(r"\| [A-Z]\d", row)):
            continue
        for mention, rest in re.findall(r"\b(I\d+) ([a-z][a-z -]*)", row):
            if mention in registry and not rest.startswith(registry[mention][0]):
                wrong.append(f"{path}: {mention} is '{registry[mention][0]}', not '{rest.strip()}'")
# A document that defines an invariant uses its sentence.
for path in glob.glob("docs/protocols/*.md"):
    for mention, text in re.findall(r"^(?:\| |- )(I\d+) (?:\| )?(.*)$", read(path), re.M):
        if mention in registry and not text.startswith(registry[mention][1]):
            wrong.append(f"{path}: {mention} is: {registry[mention][1]}")
for unused in sorted(set(registry) - used):
    wrong.append(f"{unused} is used nowhere")
print("\n".join(wrong) if wrong else f"{len(registry)} invariants, one numbering in {len(files)} files")
sys.exit(1 if wrong else 0)
PYTHON
