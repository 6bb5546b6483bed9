# SPDX-License-Identifier: Apache-2.0
"""The website's pages lie as the repository's files do, so that one relative link works here and on a git host.

A hook of mkdocs. docs/ keeps its place below the root, README.md becomes the first page, and what a page links to besides
(a file, or a folder of an example) becomes a file or a page of the website. docs/README.md gives the navigation. The API
reference (reference.py) exists only here: docs/reference.md becomes its index.
"""
import pathlib
import posixpath
import re

import api
import pymdownx.slugs
import reference
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXTRAS = ["packaging/site/site.css", "packaging/site/icon.svg"]
LINK = re.compile(r"\]\(([^)\s#:]+)")
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".txt": "cmake", ".json": "json", ".py": "python", ".sh": "bash"}
MOST_BYTES = 16_000  # of a file that is shown in the page of its folder


def pages():
    """The pages that are written by hand, from the root."""
    return sorted(p.relative_to(ROOT).as_posix() for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def target(page, link):
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link))


def linked():
    """The links of the pages: paths from the root."""
    return sorted({target(page, link) for page in pages() for link in LINK.findall((ROOT / page).read_text(encoding="utf-8"))})


def title_of(page):
    """Its first heading, in short: "The demo", not "The demo: five components from …"."""
    head = re.search(r"^# (.*)$", (ROOT / page).read_text(encoding="utf-8"), flags=re.M)
    return head.group(1).split(":")[0].replace("`", "")


def navigation():
    """A section for each heading of docs/README.md, with the pages that its table names first."""
    index, seen, found = "docs/README.md", {"README.md", "docs/README.md", reference.INDEX}, [{"Cardan": "README.md"}]
    for section in (ROOT / index).read_text(encoding="utf-8").split("\n## ")[1:]:
        heading, _, rows = section.partition("\n")
        listed = []
        for link in LINK.findall(rows):
            page = target(index, link)
            if page.endswith(".md") and page not in seen:
                seen.add(page)
                listed.append({title_of(page): page})
        found.append({heading.strip(): listed})
    programs = [f"{path}/index.md" for path in linked() if (ROOT / path).is_dir()]
    themes = [{title: path} for title, path, _, _ in reference.themes()]
    return [*found, {"API reference": [{"All headers": reference.INDEX}, *themes]}, {"Programs": programs}, {"All pages": index}]


def folder_page(folder):
    """Its files, each as text."""
    parts = ["---\nsearch: {exclude: true}\n---\n", f"# {folder}\n"]
    for path in sorted((ROOT / folder).iterdir()):
        if path.is_dir():
            parts.append(f"The folder `{path.name}` is in the source tree.\n")
        elif path.stat().st_size <= MOST_BYTES:
            parts.append(f"## {path.name}\n\n```{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text(encoding='utf-8').rstrip()}\n```\n")
        else:
            parts.append(f"The file `{path.name}` is in the source tree.\n")
    return "\n".join(parts)


def on_config(config):
    config.nav = navigation()
    config.mdx_configs["toc"]["slugify"] = pymdownx.slugs.slugify(case="lower")  # as git hosts do
    return config


def on_files(files, config):
    docs = pathlib.Path(config.docs_dir)
    kept = [f for f in files if f.src_dir is None or pathlib.Path(f.src_dir) != docs]  # the theme's
    try:
        made = reference.generated()
    except api.Problem as problem:
        raise PluginError(str(problem)) from None
    wanted = {*pages(), *EXTRAS, *(path for path in linked() if (ROOT / path).is_file())}
    kept += [File.generated(config, path, content=content) for path, content in made.items()]
    for path in sorted(wanted - made.keys()):
        kept.append(File(path, str(ROOT), config.site_dir, config.use_directory_urls))
    for path in linked():
        if (ROOT / path).is_dir():
            kept.append(File.generated(config, f"{path}/index.md", content=folder_page(path)))
    return Files(kept)


def with_four_spaces(markdown):
    """Git hosts let an item of a list continue after two spaces; here it takes four."""
    fenced, lines = False, []
    for line in markdown.split("\n"):
        fenced ^= line.startswith("```")
        spaces = len(line) - len(line.lstrip(" "))
        lines.append(line if fenced or not line.strip() else " " * (4 * ((spaces + 2) // 3)) + line.lstrip(" "))
    return "\n".join(lines)


def on_page_markdown(markdown, page, **_):
    """A link to a folder leads to its page, and the list of all pages shows their titles."""
    here = page.file.src_uri
    if here.endswith("/index.md") or here.startswith("docs/reference/"):
        return markdown  # a page that is made here

    def to_page(match):
        is_folder = (ROOT / target(here, match.group(1))).is_dir()
        return match.group(0).rstrip("/") + "/index.md" if is_folder else match.group(0)

    if here == "docs/README.md":
        markdown = re.sub(r"\[([^\]]+\.md)\](?=\()", lambda match: f"[{title_of(target(here, match.group(1)))}]", markdown)
    return LINK.sub(to_page, with_four_spaces(markdown))
