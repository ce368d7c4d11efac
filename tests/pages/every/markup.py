"""What is wrong with the HTML of a page, read by a parser that reports what browsers forgive.

On top of the parser's own errors: ids are given once; what refers to an id finds it; labels belong
to controls; nothing stands where its parent's content model forbids it; nothing inline that the
content-security policy would block; forms that send are protected; times can be read by machines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from justhtml import Element, JustHTML, Node

REFERENCES = ("aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "for", "form")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PHRASING = _words(
    "abbr b bdi bdo button cite code dfn em h1 h2 h3 h4 h5 h6 i kbd label legend mark meter output"
    " p pre progress q s samp small span strong sub summary sup time u var"
)
"""Elements that hold text and what stands in text, and nothing else."""
BLOCKS = _words(
    "address article aside blockquote dd details dialog div dl dt fieldset figure footer form h1 h2"
    " h3 h4 h5 h6 header hr li main nav ol p pre section table ul"
)
HEADED = frozenset({"summary", "legend"})
"""Their text may be a heading."""
CHILDREN = {
    "ul": {"li", "script", "template"},
    "ol": {"li", "script", "template"},
    "dl": {"dt", "dd", "div", "script", "template"},
    "tr": {"td", "th", "script", "template"},
    "select": {"option", "optgroup", "hr"},
}
INTERACTIVE = _words("a button details input label select summary textarea")
INERT = ("application/json", "application/ld+json", "text/template")
"""Types of scripts that are data."""
CONTROLS = _words("button input meter output progress select textarea")


def faults(source: str) -> list[str]:
    """What is wrong with a whole document; nothing: an empty list."""
    read = JustHTML(source, sanitize=False, collect_errors=True)
    elements = list(_within(read.root))
    return [
        *(f"{each.code} in line {each.line}" for each in read.errors),
        *_ids(elements),
        *(fault for each in elements for fault in _faults(each)),
        *_frame(elements),
    ]


def _within(node: Node) -> Iterator[Element]:
    for child in node.children or ():
        if isinstance(child, Element):
            yield child
            yield from _within(child)


def _ids(elements: list[Element]) -> Iterator[str]:
    ids = Counter(each.attrs["id"] for each in elements if "id" in each.attrs)
    yield from (f"the id {name} is given {times} times" for name, times in ids.items() if times > 1)
    named = {each.attrs.get("id"): each.name for each in elements}
    for each in elements:
        if each.name == "dialog" and not each.children:
            continue  # filled when it opens, with what names it
        for attribute in REFERENCES:
            for wanted in (each.attrs.get(attribute) or "").split():
                if wanted not in named:
                    yield f"{attribute} of {_short(each)} names {wanted}, which is not there"
                elif attribute == "for" and named[wanted] not in CONTROLS:
                    yield f"the label for {wanted} belongs to a {named[wanted]}"


def _faults(element: Element) -> Iterator[str]:
    name, attrs = element.name, element.attrs
    above = list(_above(element))
    yield from (f"{each} in {_short(element)}" for each in attrs if each.startswith("on"))
    if "style" in attrs or name == "style":
        yield f"a style in the page: {_short(element)}"
    if name == "script" and "src" not in attrs and attrs.get("type") not in INERT:
        yield "a script in the page"
    if name == "time" and not attrs.get("datetime"):
        yield f"no moment in {_short(element)}"
    if name == "img" and "alt" not in attrs:
        yield f"no words for {_short(element)}"
    if name == "form" and (attrs.get("method") or "").lower() == "post" and not _protected(element):
        yield f"no token in {_short(element)}"
    if name == "label" and "for" not in attrs and not _has(element, CONTROLS):
        yield f"{_short(element)} belongs to nothing"
    if above:
        yield from _placed(element, above)


def _placed(element: Element, above: list[str]) -> Iterator[str]:
    """Whether it may stand where it stands; `above`: the names of its ancestors, nearest first."""
    name, parent = element.name, above[0]
    heading = parent in HEADED and name in ("h1", "h2", "h3", "h4", "h5", "h6")
    if parent in PHRASING and name in BLOCKS and not heading:
        yield f"{_short(element)} in a {parent}"
    if parent in CHILDREN and name not in CHILDREN[parent]:
        yield f"{_short(element)} in a {parent}"
    for outer in ("a", "button"):
        if outer in above and name in INTERACTIVE and element.attrs.get("type") != "hidden":
            yield f"{_short(element)} in a {outer}"
    if name == "form" and "form" in above:
        yield f"{_short(element)} in a form"


def _frame(elements: list[Element]) -> Iterator[str]:
    """One language, one title, one main part, one first heading, headings without gaps."""
    count = Counter(each.name for each in elements if "svg" not in _above(each))
    for name in ("title", "main", "h1"):
        if count[name] != 1:
            yield f"{count[name]} {name}"
    if not any(each.name == "html" and each.attrs.get("lang") for each in elements):
        yield "no language"
    levels = [int(each.name[1]) for each in elements if each.name in ("h1", "h2", "h3", "h4")]
    for before, after in pairwise(levels):
        if after > before + 1:
            yield f"a heading h{after} after h{before}"


def _above(element: Element) -> Iterator[str]:
    node = element.parent
    while isinstance(node, Element):
        yield node.name
        node = node.parent


def _protected(form: Element) -> bool:
    return any(each.attrs.get("name") == "csrfmiddlewaretoken" for each in _within(form))


def _has(element: Element, names: frozenset[str]) -> bool:
    return any(each.name in names for each in _within(element))


def _short(element: Element) -> str:
    attrs = (f'{name}="{value}"' for name, value in element.attrs.items())
    return f"<{' '.join((element.name, *attrs))[:120]}>"
