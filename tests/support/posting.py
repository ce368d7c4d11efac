"""Filling in a page's forms as a browser without scripts does: with what stands in the controls."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any


class _Controls(HTMLParser):
    """All controls of one form, wherever on the page they stand."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.form = form
        self.inside: list[str] = []
        self.sent: dict[str, list[str]] = {}
        self.offered: dict[str, list[str]] = {}
        self.text: str | None = None
        self.select: str | None = None

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        attrs = {key: value or "" for key, value in given}
        if tag == "form":
            self.inside.append(attrs.get("id", ""))
        mine = attrs.get("form", self.inside[-1] if self.inside else "") == self.form
        if tag == "option" and self.select is not None:
            self.offered.setdefault(self.select, []).append(attrs.get("value", ""))
            if "selected" in attrs:
                self.sent[self.select] = [attrs["value"]]
        if mine and attrs.get("name"):
            self._control(tag, attrs["name"], attrs)

    def _control(self, tag: str, name: str, attrs: dict[str, str]) -> None:
        if tag == "textarea":
            self.text = name
            self.sent[name] = [""]
        elif tag == "select":
            self.select = name
            self.sent[name] = [""]
        elif tag == "button":
            self.offered.setdefault(name, []).append(attrs.get("value", ""))
        elif tag == "input" and attrs.get("type") in ("radio", "checkbox"):
            self.offered.setdefault(name, []).append(attrs.get("value", "on"))
            if "checked" in attrs:
                self.sent.setdefault(name, []).append(attrs.get("value", "on"))
        elif tag == "input":
            self.sent[name] = [attrs.get("value", "")]

    def handle_data(self, data: str) -> None:
        if self.text is not None:
            self.sent[self.text][0] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self.text is not None:
            held = self.sent[self.text][0]
            self.sent[self.text] = [held.removeprefix("\n").replace("\n", "\r\n")]
            self.text = None
        elif tag == "select":
            self.select = None
        elif tag == "form" and self.inside:
            self.inside.pop()


def form_of(response: Any, form: str = "decision") -> dict[str, list[str]]:
    """What the form would send if nothing were touched and no button had a name."""
    return _parsed(response, form).sent


def offered(response: Any, name: str, form: str = "decision") -> list[str]:
    """The values of the buttons, radios or options of this name."""
    return _parsed(response, form).offered.get(name, [])


def _parsed(response: Any, form: str) -> _Controls:
    parser = _Controls(form)
    parser.feed(response.content.decode())
    return parser


def control(response: Any, label: str) -> str:
    """The name of the control with this label."""
    found = re.search(rf'<label for="id_([^"]+)">{re.escape(label)}\b', response.content.decode())
    assert found, f"no control called {label}"
    return found[1]
