# SPDX-License-Identifier: Apache-2.0
"""The documentation as a website (`make site`): pages, links, and that nothing comes from another host.

    site_test.py SOURCE [unittest arguments]

Ends with 77 where mkdocs is not installed. The work of a browser is checked where Chromium is (browser.py).
"""
import html
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import browser

SOURCE = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(SOURCE / "packaging/site"))
import api  # noqa: E402
import reference  # noqa: E402

# Elements that load what an attribute names; links to other sites are not requests.
LOADS = {"script": ["src"], "img": ["src", "srcset"], "iframe": ["src"], "source": ["src", "srcset"], "video": ["src", "poster"], "audio": ["src"],
         "embed": ["src"], "object": ["data"], "input": ["src"], "track": ["src"], "image": ["href"], "use": ["href"]}
LINKS_THAT_LOAD = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "manifest", "apple-touch-icon"}


def build(source, site):
    """The exit code, and all that it complains of. (With --quiet, --strict would see no warning.)"""
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(source / "mkdocs.yml"), "-d", str(site)],
                          env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    return done.returncode, "\n".join(line for line in done.stdout.splitlines() if not line.startswith("INFO "))


class Page(html.parser.HTMLParser):
    """The resources of a page, its links, anchors and paragraphs."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.links, self.anchors, self.paragraphs, self.inside = [], [], set(), [], False
        self.article, self.items, self.nested = False, 0, 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.anchors.update(of[name] for name in ("id", "name") if of.get(name))
        for name in LOADS.get(tag, []):
            if of.get(name):
                self.loads += [one.split()[0] for one in of[name].split(",")] if name == "srcset" else [of[name]]
        if tag == "link" and set((of.get("rel") or "").split()) & LINKS_THAT_LOAD:
            self.loads.append(of["href"])
        if tag == "a" and of.get("href"):
            self.links.append(of["href"])
        self.loads += re.findall(r"url\(['\"]?([^'\")]+)", of.get("style") or "")
        self.article = self.article or tag == "article"
        self.items += tag == "li" and self.article
        self.nested += tag in ("ul", "ol") and self.items > 0
        if tag == "p":
            self.inside = True
            self.paragraphs.append("")

    def handle_endtag(self, tag):
        self.article = self.article and tag != "article"
        self.items -= tag == "li" and self.article
        if tag == "p":
            self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.paragraphs[-1] += data


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="cardan-site-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.site = cls.folder / "site"
        cls.built = build(SOURCE, cls.site)
        cls.pages = {page.relative_to(cls.site).as_posix(): Page(page.read_text(encoding="utf-8")) for page in cls.site.rglob("*.html")}

    def test_it_builds_without_a_warning(self):
        self.assertEqual(self.built, (0, ""))

    def test_each_page_of_the_tree_is_there(self):
        for page in [*SOURCE.glob("*.md"), *SOURCE.glob("docs/**/*.md")]:
            path = page.relative_to(SOURCE).with_suffix(".html").as_posix().replace("README.html", "index.html")
            self.assertIn(path, self.pages)

    def test_the_navigation_has_the_sections_of_the_list(self):
        text = (self.site / "index.html").read_text(encoding="utf-8")
        shown = [re.sub(r"<[^>]+>|\s+", " ", tab).strip() for tab in re.findall(r'<li class="md-tabs__item[^"]*">(.*?)</li>', text, flags=re.S)]
        sections = re.findall(r"^## (.*)$", (SOURCE / "docs/README.md").read_text(encoding="utf-8"), flags=re.M)
        self.assertEqual(shown, ["Cardan", *sections, "API reference", "Programs", "All pages"])

    def resolved(self, page, link):
        """A path in the site, and the anchor; None for another site."""
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            return None
        # The page for wrong addresses is given for any of them, so its links start with /.
        path = page if not parts.path else os.path.normpath(os.path.join("/", os.path.dirname(page), urllib.parse.unquote(parts.path))).lstrip("/")
        return (path + "/index.html").lstrip("/") if (self.site / path).is_dir() else path, urllib.parse.unquote(parts.fragment)

    def test_links_lead_to_a_page_and_a_heading(self):
        count = 0
        for name, page in self.pages.items():
            for link in page.links:
                to = self.resolved(name, link)
                if to is None:
                    self.assertIn(urllib.parse.urlsplit(link).scheme, ("https", "http"), f"{name}: {link}")
                    continue
                count += 1
                path, anchor = to
                self.assertTrue((self.site / path).exists(), f"{name}: {link} leads nowhere")
                if anchor and path in self.pages and anchor != "__codelineno":
                    self.assertIn(anchor, self.pages[path].anchors, f"{name}: {link}")
        self.assertGreater(count, 500)

    def test_files_that_pages_load_are_in_the_site(self):
        count = 0
        for name, page in self.pages.items():
            for load in page.loads:
                if load.startswith("data:"):
                    continue
                to = self.resolved(name, load)
                self.assertIsNotNone(to, f"{name} loads {load} from another host")
                self.assertTrue((self.site / to[0]).is_file(), f"{name} loads {load}, which is not there")
                count += 1
        self.assertGreater(count, 100)
        for style in self.site.rglob("*.css"):
            text = style.read_text(encoding="utf-8")
            self.assertEqual([u for u in re.findall(r"url\(['\"]?([^'\")]+)", text) if re.match(r"[a-z]+:|//", u) and not u.startswith("data:")], [], style.name)
            self.assertEqual(re.findall(r"@import[^;]*", text), [], style.name)

    def test_lists_and_tables_are_not_taken_for_text(self):
        """The two dialects differ: here a list needs an empty line before it."""
        for name, page in self.pages.items():
            for text in page.paragraphs:
                self.assertIsNone(re.search(r"^(- |\d+\. |\|)", text, flags=re.M), f"{name}: {text[:200]}")

    def test_lists_in_lists_stay_there(self):
        found = 0
        for source in [*SOURCE.glob("*.md"), *SOURCE.glob("docs/**/*.md")]:
            prose = re.sub(r"^```.*?^```", "", source.read_text(encoding="utf-8"), flags=re.M | re.S)
            # A list begins with an item that is deeper than the line before.
            lists = re.findall(r"^(?! +[-0-9]).*\n +(?:-|\d+\.) ", prose, flags=re.M)
            page = source.relative_to(SOURCE).with_suffix(".html").as_posix().replace("README.html", "index.html")
            self.assertGreaterEqual(self.pages[page].nested, 1 if lists else 0, page)
            found += len(lists) > 0
        self.assertGreater(found, 2)

    def test_the_reference_has_each_header_and_class(self):
        index = self.pages["docs/reference.html"]
        page_of = reference.theme_of_header()
        for header in api.headers():
            path, anchor = page_of[header][0].replace(".md", ".html"), header.rpartition("/")[2]
            self.assertIn(anchor, self.pages[path].anchors)
            self.assertIn(f"{path.removeprefix('docs/')}#{anchor}", index.links)
        declared = [one for one in reference.Pages().declared if one.kind in ("class", "struct", "union", "concept", "enum")]
        self.assertGreater(len(declared), 200)
        for one in declared:
            text = (self.site / page_of[one.header][0].replace(".md", ".html")).read_text(encoding="utf-8")
            shown = f"<b>{html.escape(one.name.rpartition('::')[2], quote=False)}</b>" if "@" not in one.name else "<code>enum</code>"
            self.assertTrue(shown in text, one.name)
            self.assertTrue(f"#include &lt;{api.include_of(one.header)}&gt;" in text, one.header)

    def test_each_class_enumeration_and_option_has_a_comment(self):
        without = []
        for one in reference.Pages().declared:
            types = [d for d in [one, *one.members] if d.kind in ("class", "struct", "union", "concept", "enum")]
            without += [d.full_name() for d in types if not reference.comment(d)]
            for field, *others in reference.together(one.members) if one.name.endswith("Options") else []:
                if field.kind == "variable" and not any(map(reference.comment, [field, *others])):
                    without.append(field.full_name())
        self.assertEqual(without, [])

    def test_a_class_of_the_reference_has_its_members_and_comments(self):
        text = (self.site / "docs/reference/topics.html").read_text(encoding="utf-8")
        section = text[text.index('id="Publisher"'):text.index('id="subscriber.hpp"')]
        for expected in ("#include &lt;cardan/", "template &lt;", 'id="Publisher.loan"', 'id="Publisher.publish"', 'id="Publisher.subscribers"',
                         "Hands the loan to every subscriber.", "<p>Thread safety: one thread at a time",
                         '<a href="#PublisherOptions">PublisherOptions</a>', '<a href="errors-log-and-clocks.html#Error">Error</a>'):
            self.assertTrue(expected in section, expected)
        for inner in ("detail::", "end_", "Chosen for a type"):
            self.assertNotIn(inner, section)
        of_c = (self.site / "docs/reference/c-interface.html").read_text(encoding="utf-8")
        self.assertTrue("<code>CARDAN_GROUP = 1</code></td>\n<td>users that share" in of_c)

    def test_search_finds_the_names_of_the_reference(self):
        entries = json.loads((self.site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
        found = {entry["location"]: entry for entry in entries}
        self.assertEqual(found["docs/reference/topics.html#spin_then_block"]["title"], "spin_then_block()")
        self.assertIn("set_checksum", found["docs/reference/topics.html#Publisher"]["text"])

    def test_mistakes_fail_the_build(self):
        copy = self.folder / "copy"
        for folder in ("docs", "packaging/site", "examples", "demo"):
            shutil.copytree(SOURCE / folder, copy / folder)
        for file in [*SOURCE.glob("*.md"), SOURCE / "mkdocs.yml", *(SOURCE / header for header in api.headers())]:
            (copy / file.relative_to(SOURCE)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy / file.relative_to(SOURCE))
        links = ("nothing.md", "install.md#nothing", "../examples/nothing", "reference/topics.md#Nobody")
        with open(copy / "docs/guide.md", "a", encoding="utf-8") as guide:
            guide.writelines(f"\n[a link]({link})\n" for link in links)
        code, complaints = build(copy, self.folder / "copied")
        self.assertNotEqual(code, 0)
        for link in links:
            self.assertIn(link, complaints)

        # And so does a comment that refers to nothing, and a header without a theme.
        header = copy / next(header for header in api.headers() if header.endswith("/topic.hpp"))
        good = header.read_text(encoding="utf-8")
        header.write_text(good.replace("/// The contract of a topic.", "/// The contract of a topic, see \\ref Nobody.", 1), encoding="utf-8")
        code, complaints = build(copy, self.folder / "copied")
        self.assertNotEqual(code, 0)
        self.assertIn("Nobody", complaints)
        header.write_text(good, encoding="utf-8")
        table = copy / reference.INDEX
        table.write_text(table.read_text(encoding="utf-8").replace(" `wait_any` ", " "), encoding="utf-8")
        code, complaints = build(copy, self.folder / "copied")
        self.assertNotEqual(code, 0)
        self.assertRegex(complaints, "must give a theme to each public header.*wait_any.hpp")

    @unittest.skipUnless(browser.CHROMIUM, "no Chromium here")
    def test_a_browser_asks_no_other_host_and_finds_words(self):
        with browser.served(self.site) as own, browser.Browser(self.folder / "profile") as chromium:
            for path in ("index.html", "docs/guide.html", "docs/command.html", "docs/protocols/slot.html", "examples/component/index.html",
                         "docs/reference.html", "docs/reference/topics.html"):
                chromium.open(f"{own}/{path}")
                # The page is as wide as the window, also on a phone.
                for width in 1280, 390:
                    chromium.resize(width, 800)
                    self.assertTrue(chromium.until(f"document.documentElement.scrollWidth <= {width}", 10), f"{path} is wider than {width}")
            chromium.resize(1280, 800)
            chromium.open(f"{own}/index.html")
            chromium.value("document.querySelector('.md-search__input').focus()")
            chromium.type("prewake")
            found = chromium.until("document.querySelectorAll('.md-search-result__item').length")
            self.assertGreater(found, 0)
            asked = {url for url in chromium.requests if not url.startswith(("data:", "blob:"))}
        self.assertGreater(len(asked), 5)
        self.assertEqual([url for url in asked if not url.startswith(own + "/")], [])
        self.assertTrue(any("search_index" in url for url in asked))
        self.assertEqual(chromium.errors, [])

    @unittest.skipUnless(browser.CHROMIUM, "no Chromium here")
    def test_the_pictures_of_the_readme_show_what_they_have(self):
        pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", (SOURCE / "README.md").read_text(encoding="utf-8"))
        self.assertGreater(len(pictures), 1)
        # Of a drawing: texts that leave it, lie on another one, or lose their columns. Of a photograph: its size and how many colours it has.
        drawing = """(() => {
            const frame = document.documentElement.getBoundingClientRect();
            const texts = [...document.querySelectorAll("text")].map(t => [t.textContent, t.getBoundingClientRect()]);
            const outside = texts.filter(([, b]) => b.left < frame.left || b.right > frame.right || b.top < frame.top || b.bottom > frame.bottom);
            const over = texts.filter(([, b], i) => texts.some(([, c], k) => k > i && b.left < c.right - 1 && c.left < b.right - 1 &&
                                                                        b.top < c.bottom - 3 && c.top < b.bottom - 3));
            const squeezed = [...document.querySelectorAll("text, tspan")].filter(t => t.children.length == 0 && /\\S {2,}\\S/.test(t.textContent) &&
                                                                              !getComputedStyle(t).whiteSpace.startsWith("pre"));
            return {texts: texts.length, wrong: [...[...outside, ...over].map(([text]) => text), ...squeezed.map(t => t.textContent)]};
        })()"""
        photograph = """(() => {
            const image = document.images[0], canvas = document.createElement("canvas");
            canvas.width = image.naturalWidth, canvas.height = image.naturalHeight;
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            const points = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
            return {width: canvas.width, height: canvas.height, colours: new Set(points).size};
        })()"""
        with browser.served(SOURCE) as own, browser.Browser(self.folder / "pictures") as chromium:
            for picture in pictures:
                with self.subTest(picture):
                    chromium.open(f"{own}/{picture}")
                    if picture.endswith(".svg"):
                        shown = chromium.value(drawing)
                        self.assertGreater(shown["texts"], 10)
                        self.assertEqual(shown["wrong"], [])
                    else:
                        shown = chromium.value(photograph)
                        self.assertGreater(min(shown["width"], shown["height"]), 300, shown)
                        self.assertGreater(shown["colours"], 100, shown)


if __name__ == "__main__":
    if subprocess.run([sys.executable, "-c", "import mkdocs, material"], stderr=subprocess.DEVNULL).returncode != 0 or \
            api.doxygen_version() < api.LEAST_DOXYGEN:
        print("skipped: no mkdocs-material or no Doxygen 1.9.2 here (scripts/setup.sh --for test installs them)")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
