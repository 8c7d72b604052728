"""What MkDocs needs to build the site from pages that are written for a reader of the repository.

- Pages link to files outside docs/. README.md, CONTRIBUTING.md and CHANGELOG.md become pages; all other files that a page links to are
  copied below source/, and of a directory its list of files.
- Headings get the anchors that GitHub gives them, which tests/links.py checks.
- Python-Markdown wants an empty line before a list, a table or a comment, and four blanks before a list in a list; GitHub does not.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"README.md": "overview.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"(`[^`\n]*`)|(\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
VERBATIM = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
ITEM = re.compile(r"( *)(?:[-*]|\d+\.) ")


def on_config(config):
    config.mdx_configs["toc"]["slugify"] = lambda words, _: re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
    return config


def on_files(files, config):
    made = {PAGES[name]: (ROOT / name).read_text() for name in PAGES} | {"decisions/index.md": list_of_decisions()}
    for uri, text in made.items():
        files.append(File.generated(config, uri, content=text))
    for source in sorted({linked for file in files.documentation_pages() for linked in linked_sources(file)}):
        path = ROOT / source
        text = path.read_bytes() if path.is_file() else listing(path).encode()
        files.append(File.generated(config, uri_of(source), content=text))
    return files


def on_page_markdown(markdown, page, **_):
    home = home_of(page.file.src_uri)
    return outside_verbatim(markdown, lambda text: with_links(as_python_markdown(text), home, page.file.src_uri))


def list_of_decisions():
    titles = {page.name: page.read_text().split("\n", 1)[0].lstrip("# ") for page in sorted((ROOT / "docs/decisions").glob("*.md"))}
    rows = "".join(f"- [{title}]({name})\n" for name, title in titles.items())
    return f"# Decisions\n\nWhy Forebay is built as it is: a page for each decision that somebody will ask about, oldest first.\n\n{rows}"


def listing(directory):
    return "".join(f"{path.relative_to(ROOT)}\n" for path in sorted(directory.rglob("*")) if path.is_file())


def home_of(uri):
    """The directory, seen from the repository's top, that a page's links start from."""
    return "" if uri in PAGES.values() else posixpath.dirname(f"docs/{uri}")


def target_of(link, home):
    """The file that a link of a page leads to, seen from the repository's top; none for other sites and the page itself."""
    path = link.partition("#")[0]
    return None if not path or re.match(r"[a-z]+:", link) else posixpath.normpath(posixpath.join(home, path))


def uri_of(target):
    """Where the site has a file of the repository."""
    if target in PAGES:
        return PAGES[target]
    if target.startswith("docs/"):
        inside = target.removeprefix("docs/")
        index = next((name for name in ("README.md", "index.md") if (ROOT / target / name).exists()), "index.md")
        return f"{inside}/{index}" if (ROOT / target).is_dir() else inside
    return f"source/{target}.txt"


def linked_sources(file):
    text = VERBATIM.sub("", file.content_string)
    targets = {target_of(match[3], home_of(file.src_uri)) for match in LINK.finditer(text) if match[3]}
    return {target for target in targets if target and uri_of(target).startswith("source/") and (ROOT / target).exists()}


def with_links(text, home, uri):
    def rewritten(match):
        target = target_of(match[3], home) if match[3] else None
        if target is None:
            return match[0]
        anchor = "".join(match[3].partition("#")[1:])
        return match[2] + posixpath.relpath(uri_of(target), posixpath.dirname(uri) or ".") + anchor + match[4]

    return LINK.sub(rewritten, text)


def outside_verbatim(text, change):
    at, done = 0, []
    for match in VERBATIM.finditer(text):
        done += [change(text[at : match.start()]), match[0]]
        at = match.end()
    return "".join([*done, change(text[at:])])


def as_python_markdown(text):
    done, before, deep = [], "", False
    for line in text.split("\n"):
        item = ITEM.match(line)
        if item and not line.startswith("    ") and len(item[1]) >= 2 and deep:
            line = "    " + line.lstrip()
        begins = (item and not deep) or (line.startswith("|") and not before.startswith("|")) or line.startswith("<!--") or before.endswith("-->")
        if begins and before.strip():
            done.append("")
        if item or not line.strip():
            deep = bool(item) or deep
        if line.strip() and not line.startswith(" ") and not item and not before.strip():
            deep = False
        done.append(line)
        before = line
    return "\n".join(done)
