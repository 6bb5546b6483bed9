# SPDX-License-Identifier: Apache-2.0
"""The pages of the API reference, in Markdown: one for each theme of docs/reference.md, from the comments of the public headers.

A module of pages.py. docs/reference.md says which header belongs to which theme. In the website its table links to the pages.
"""
import html
import re

import api

INDEX = "docs/reference.md"
ROW = re.compile(r"^\| ([^|`]+) \| ([^|]+) \| (`.*`) \|$", flags=re.M)
MARKS = str.maketrans({c: f"&#{ord(c)};" for c in "*_[]`\\{}|~"})  # to Markdown
# A class template without this comment's kind of use: it only explains a mistake of the program.
FOR_MISTAKES = "Chosen for a type that is not a message"
KINDS = {"variable": "", "function": "()", "typedef": "", "enum": "", "define": "", "class": "", "struct": "", "union": "", "concept": ""}


def themes():
    """(title, path of the page, what it has, its headers as the table writes them)."""
    found = []
    for title, contents, headers in ROW.findall((api.ROOT / INDEX).read_text(encoding="utf-8")):
        slug = re.sub(r"\W+", "-", title.lower())
        found.append((title, f"docs/reference/{slug}.md", contents, re.findall(r"`([^`]+)`", headers)))
    return found


def theme_of_header():
    """Header → (path of its page, how the table writes it). A row may give the last part of a path; the longest that fits decides."""
    page_of = {name: path for _, path, _, names in themes() for name in names}
    found, missing = {}, []
    for header in api.headers():
        parts = header.removesuffix(".hpp").split("/")
        name = next((n for n in ("/".join(parts[i:]) for i in range(len(parts))) if n in page_of), None)
        found[header] = (page_of.get(name), name)
        missing += [header] if name is None or [n for _, n in found.values()].count(name) > 1 else []
    if missing:
        raise api.Problem(f"{INDEX} must give a theme to each public header, and one name to one header: {', '.join(missing)}")
    unknown = sorted(set(page_of) - {name for _, name in found.values()})
    if unknown:
        raise api.Problem(f"{INDEX} names headers that are not public: {', '.join(unknown)}")
    return found


def escaped(text):
    return html.escape(text, quote=False).translate(MARKS)


class Pages:
    """All of the reference."""

    def __init__(self):
        self.header_of_theme = theme_of_header()
        declared, self.files = api.read()
        structs = {d.full_name() for d in declared if d.kind == "struct"}  # C's typedefs of the same name
        self.declared = [d for d in declared if not comment(d).startswith(FOR_MISTAKES) and not (d.kind == "typedef" and d.full_name() in structs)]
        self.places, names, used = {}, {}, set()  # Doxygen's id → (page, anchor)
        for one in self.declared:
            page = self.header_of_theme[one.header][0]
            anchor = free_anchor(heading(one), page, used)
            self.places[one.id] = names[one.full_name()] = (page, anchor)
            for member in one.members:
                self.places[member.id] = (page, free_anchor(f"{anchor}.{member.name}", page, used))
            for each in [one, *one.members]:
                self.places.update((v.get("id"), self.places[each.id]) for v in each.element.findall("enumvalue"))
        for header, file in self.files.items():
            self.places[file.get("id")] = (self.header_of_theme[header][0], header.rpartition("/")[2])
        for one in declared:  # those that are left out: their names mean the others
            self.places.setdefault(one.id, names.get(f"{one.full_name()}<T>") or names.get(one.full_name(), (None, "")))

    def link(self, ref, page, ending):
        """Where a <ref> leads, from a page; None if it is not shown."""
        to, anchor = self.places.get(ref.get("refid"), (None, ""))
        return None if to is None else f"#{anchor}" if to == page else f"{to.rpartition('/')[2].removesuffix('.md')}.{ending}#{anchor}"

    # ------------------------------------------------------------ comments

    def inline(self, element, page, code=False):
        parts = [element.text or ""]
        parts[0] = parts[0] if code else escaped(parts[0])
        for child in element:
            tag, inner = child.tag, self.inline(child, page, code or child.tag == "computeroutput")
            if tag == "ref" and not code:
                to = self.link(child, page, "md")
                inner = f"[{inner}]({to})" if to else inner
            elif tag == "computeroutput":
                refs = [self.link(ref, page, "md") for ref in child.findall("ref") if "".join(child.itertext()) == ref.text]
                inner = f"`` {inner} ``" if "`" in inner else f"`{inner}`"
                inner = f"[{inner}]({refs[0]})" if refs and refs[0] else inner
            elif tag in ("emphasis", "bold"):
                inner = f"*{inner}*" if tag == "emphasis" else f"**{inner}**"
            elif tag in ("ndash", "mdash", "zwj"):
                inner = {"ndash": "–", "mdash": "—", "zwj": ""}[tag]
            elif tag == "ulink":
                inner = f"[{inner}]({child.get('url')})"
            elif tag != "ref":
                raise api.Problem(f"packaging/site/reference.py cannot show <{tag}> of a comment: {' '.join(element.itertext()).strip()}")
            tail = child.tail or ""
            parts += [inner, tail if code else escaped(tail)]
        return "".join(parts)

    def blocks(self, element, page):
        """The paragraphs, lists and examples of a description."""
        found = []
        for para in element.findall("para"):
            run = para.makeelement("para", {})
            run.text = para.text
            for child in [*para, None]:
                if child is not None and child.tag not in ("itemizedlist", "orderedlist", "verbatim", "programlisting"):
                    run.append(child)
                    continue
                prose = self.inline(run, page).strip()
                found += re.split(r" (?=Thread safety: )", prose) if prose else []
                if child is None:
                    break
                if child.tag.endswith("list"):
                    mark = "1.  " if child.tag == "orderedlist" else "-   "
                    items = ["\n\n".join(self.blocks(item, page)).replace("\n", "\n    ") for item in child.findall("listitem")]
                    found.append("\n".join(mark + item for item in items))
                else:
                    lines = child.findall("codeline")
                    for space in child.iter("sp"):
                        space.text = " "
                    code = "\n".join("".join(line.itertext()) for line in lines) if lines else "".join(child.itertext())
                    found.append(f"```{child.get('filename', '.cpp').removeprefix('.')}\n{code.strip(chr(10)).rstrip()}\n```")
                run = para.makeelement("para", {})
                run.text = child.tail
        return found

    def description(self, element, page):
        return [block for tag in ("briefdescription", "detaileddescription") for block in self.blocks(element.find(tag), page)]

    # ------------------------------------------------------------ signatures

    def code(self, element, page):
        """A type or an initializer with links, as HTML. Links are \\x01 and \\x02 in Doxygen's spaces."""
        if element is None:
            return ""
        links, parts = [], [element.text or ""]
        for child in element:
            to = self.link(child, page, "html") if child.tag == "ref" else None
            parts.append(f"\x01{''.join(child.itertext())}\x02" if to else "".join(child.itertext()))
            links += [to] if to else []
            parts.append(child.tail or "")
        shown = html.escape(api.tidy("".join(parts)), quote=False)
        for to in links:
            shown = shown.replace("\x01", f'<a href="{to}">', 1).replace("\x02", "</a>", 1)
        return shown

    def parameter(self, param, page):
        shown = self.code(param.find("type"), page)
        name = param.findtext("declname") or param.findtext("defname") or ""
        shown += f" {name}" if name and shown else name
        shown += html.escape(param.findtext("array") or "")
        default = self.code(param.find("defval"), page)
        return f"{shown} = {default}" if default else shown

    def signature(self, one, page):
        element, kind = one.element, one.kind
        template = element.find("templateparamlist")
        lines = [f"template &lt;{', '.join(self.parameter(p, page) for p in template.findall('param'))}&gt;"] if template is not None else []
        clause = element.find("requiresclause")
        if clause is not None:
            lines.append(f"requires {self.code(clause, page)}")
        name, result = f"<b>{html.escape(one.name.rpartition('::')[2])}</b>", self.code(element.find("type"), page)
        before = "static " if element.get("static") == "yes" else "virtual " if element.get("virt", "non-virtual") != "non-virtual" else ""
        before += "explicit " if element.get("explicit") == "yes" else ""
        if kind in ("class", "struct", "union"):
            bases = ", ".join(self.code(base, page) for base in element.findall("basecompoundref") if "detail::" not in base.text)
            lines.append(f"{kind} {name}" + (f" : {bases}" if bases else ""))
        elif kind == "concept":
            lines += [f"concept {name} = {self.code(element.find('initializer'), page).partition(' = ')[2]}"]
        elif kind == "enum":
            shown = "" if "@" in one.name else f" {name}"
            lines.append(f"enum{' class' if element.get('strong') == 'yes' else ''}{shown}{' : ' + result if result else ''}")
        elif kind == "typedef":
            lines.append(f"typedef {result} {name}" if one.header.endswith(".h") else f"using {name} = {result}")
        elif kind == "define":
            lines.append(f"{name}({', '.join(self.parameter(p, page) for p in element.findall('param'))})")
        else:
            arguments = tail = ""
            if kind == "function":
                arguments = f"({', '.join(self.parameter(p, page) for p in element.findall('param'))})".replace("(void)", "()")
                tail = html.escape(api.tidy(re.sub(r"^\(.*\)", "", element.findtext("argsstring") or "")), quote=False).replace("=", " = ")
            value = self.code(element.find("initializer"), page) if kind == "variable" else ""
            value = "" if len(value) > 80 else value if value.startswith("{") else f" = {value.removeprefix('= ')}" if value else ""
            lines.append(f"{before}{result} {name}{arguments}{' ' + tail if tail else ''}{value}".replace("  ", " ").strip())
        return lines

    def entry(self, one, page, own_heading=False, others=()):
        """Its header, declaration, comment, values and members. `others`: variables of the same declaration."""
        place = "" if own_heading else f' id="{self.places[one.id][1]}"'
        header = f'<code class="from">#include &lt;{api.include_of(one.header)}&gt;</code>' if own_heading else ""
        lines = "".join(f"<code>{line}</code>" for line in self.signature(one, page))
        lines += "".join(f'<code id="{self.places[other.id][1]}">{line}</code>' for other in others for line in self.signature(other, page))
        described = next((each for each in [one, *others] if comment(each)), one)
        parts = [f'<div class="api"{place}>{header}{lines}</div>', *self.description(described.element, page)]
        values = [(f"`{v.findtext('name')} {v.findtext('initializer', '')}".strip() + "`", " ".join(self.description(v, page)))
                  for v in one.element.findall("enumvalue")]
        if any(meaning for _, meaning in values):
            parts.append("\n".join(["| value | meaning |", "|---|---|", *(f"| {value} | {meaning} |" for value, meaning in values)]))
        elif values:
            parts.append(f"Values: {', '.join(value for value, _ in values)}.")
        for member, *others in together(one.members):
            if not re.search(r"= ?(delete|default)", member.element.findtext("argsstring") or "") and not member.name.startswith("~"):
                parts += self.entry(member, page, others=others)
        return parts

    def page(self, title, path, contents, headers):
        parts = [f"# {title}", contents[0].upper() + contents[1:] + ".", "", "| header | declares |", "|---|---|"]
        body = []
        for name in headers:
            header = next(h for h, (_, n) in self.header_of_theme.items() if n == name)
            file, found = header.rpartition("/")[2], [d for d in self.declared if d.header == header]
            shown, links = None, []
            body += [f"## {file} {{#{file}}}", *([] if found else [f"```cpp\n#include <{api.include_of(header)}>\n```"]), *self.description(self.files[header], path)]
            for one in found:
                head = f"{escaped(heading(one))}{KINDS[one.kind]}"
                if head != shown:  # overloads share a heading
                    anchor = self.places[one.id][1]
                    body.append(f"### {head} {{#{anchor}}}")
                    links.append(f"[{head}](#{anchor})")
                body += self.entry(one, path, head != shown)
                shown = head
            parts.append(f"| [{file}](#{file}) | {', '.join(links)} |")
        return "\n".join(parts) + "\n\n" + "\n\n".join(body) + "\n"


def together(members):
    """Lists of members: the variables of one declaration, as `double x, y, z;`, in one list. Doxygen gives their comment to one of them."""
    found = []
    for member in members:
        if found and member.kind == found[-1][0].kind == "variable" and member.line == found[-1][0].line:
            found[-1].append(member)
        else:
            found.append([member])
    return found


def comment(one):
    return "".join(part for tag in ("briefdescription", "detaileddescription") for part in one.element.find(tag).itertext()).strip()


def heading(one):
    """Its name in the namespace cardan; C's enumerations have none."""
    name = one.full_name().removeprefix("cardan::")
    if "@" in name:
        name = one.element.findtext("enumvalue/name") + " …"
    return name


def free_anchor(name, page, used):
    name = name.replace("<T>", "").replace("::", ".")
    anchor = name = re.sub(r"[^\w.]+", "-", name).strip("-") or "operator"
    count = 1
    while (page, anchor) in used:
        count += 1
        anchor = f"{name}-{count}"
    used.add((page, anchor))
    return anchor


def generated():
    """Path → Markdown, of all pages and of docs/reference.md."""
    pages = Pages()
    found = {path: pages.page(title, path, contents, headers) for title, path, contents, headers in themes()}

    def row(match):
        title, path, contents, names = next(theme for theme in themes() if theme[0] == match.group(1))
        to = f"reference/{path.rpartition('/')[2]}"
        files = {name: header.rpartition("/")[2] for header, (_, name) in pages.header_of_theme.items()}
        return f"| [{title}]({to}) | {contents} | {', '.join(f'[{files[name]}]({to}#{files[name]})' for name in names)} |"

    found[INDEX] = ROW.sub(row, (api.ROOT / INDEX).read_text(encoding="utf-8"))
    return found
