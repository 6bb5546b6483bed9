#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Links within the documentation lead somewhere, no line of prose is over 160 characters, and texts for users keep to the wording of
# CONTRIBUTING.md. Prints what is wrong.
set -euo pipefail
cd "$(dirname "$0")/.."
python3 - <<'PYTHON'
import glob, os, re, sys

wrong = []
pages = glob.glob("*.md") + glob.glob("docs/**/*.md", recursive=True)
anchors = {}
for page in pages:
    prose, fenced = [], False
    for number, line in enumerate(open(page, encoding="utf-8"), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            prose.append(line)
            if len(line.rstrip("\n")) > 160 and not line.startswith("|"):
                wrong.append(f"{page}:{number}: {len(line) - 1} characters, 160 are the limit")
    heads = re.findall(r"^#+ (.*)$", "".join(prose), flags=re.M)
    anchors[page] = {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}
for page in pages:
    for link in re.findall(r"\]\(([^)\s]+)\)", open(page, encoding="utf-8").read()):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(target):
            wrong.append(f"{page}: the link {link} leads nowhere")
        elif anchor and target in anchors and anchor not in anchors[target]:
            wrong.append(f"{page}: {target} has no heading for {link}")
print("\n".join(wrong) if wrong else f"{len(pages)} pages, their links and lines in order")
sys.exit(bool(wrong))
PYTHON
python3 scripts/words.py
