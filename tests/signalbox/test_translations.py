"""The catalogues: complete, compiled, and as careful with names and marks as the English is."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import allauth
import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from django.utils import translation

from accounts import borrowed
from signalbox.translations import books, collecting

LANGUAGES = books.languages()
NAMED = re.compile(r"%\(\w+\)[sd]")
MARK = re.compile(r"</?[a-z]+[^>]*>")


@pytest.fixture(scope="module")
def found() -> Catalog:
    """What the code and the templates say now."""
    return collecting.catalog()


@pytest.fixture(scope="module", params=LANGUAGES)
def language(request) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def held(language) -> Catalog:
    return books.read(language)


def test_something_is_collected_from_templates_code_and_errors(found) -> None:
    assert found.get("Skip to content") is not None
    assert found.get("Any action") is not None
    assert found.get("The run has already ended. Start a new run if the work is still needed.")


def test_every_text_is_in_the_catalogue_and_nothing_else(found, held) -> None:
    said, kept = ({(each.id, each.context) for each in book if each.id} for book in (found, held))
    assert not said - kept, "run make messages, and translate"
    assert not kept - said, "run make messages"


def test_every_text_is_translated(held) -> None:
    assert books.untranslated(held) == []


def test_the_compiled_catalogue_is_that_of_the_text(language) -> None:
    path = books.place(language)
    assert path.with_suffix(".mo").read_bytes() == books.compiled(path.read_bytes(), language)


def test_compiling_it_at_another_time_makes_the_same(language) -> None:
    """A header with the time of day would make another file each minute."""
    header = books.compiled(books.place(language).read_bytes(), language)
    dates = re.findall(rb"[A-Za-z-]+-Date: (\d{4})", header)
    assert set(dates) == {b"1970"}


def test_the_catalogue_stands_as_the_command_writes_it(found, language) -> None:
    assert books.place(language).read_bytes() == books.written(books.update(language, found))


def test_a_translation_fills_in_the_same_names_and_has_the_same_marks(held) -> None:
    wrong = [
        f"{message.id!r}: {text!r}"
        for message in held
        if message.id
        for text in _translations(message)
        if not _names(text) <= _wanted(message) or not _same_marks(message, text)
    ]
    assert wrong == []


def test_a_translation_leaves_no_name_out(held) -> None:
    """A plural may do without its number, as "one more" does; nothing else may."""
    wrong = [
        f"{message.id!r}: {text!r}"
        for message in held
        if message.id and isinstance(message.id, str)
        for text in _translations(message)
        if _names(text) != _names(message.id)
    ]
    assert wrong == []


def _translations(message: Message) -> list[str]:
    return [message.string] if isinstance(message.string, str) else list(message.string or ())


def _english(message: Message) -> list[str]:
    return [message.id] if isinstance(message.id, str) else list(message.id)


def _wanted(message: Message) -> set[str]:
    return set().union(*map(_names, _english(message)))


def _names(text: str) -> set[str]:
    """What is filled in. A date may be written in another way, so its form does not count."""
    try:
        fields = {f"{{{name}}}" for _, name, _, _ in Formatter().parse(text) if name}
    except ValueError:  # a brace that is only a brace
        fields = set()
    return fields | set(NAMED.findall(text))


def _same_marks(message: Message, text: str) -> bool:
    wanted = [sorted(MARK.findall(each)) for each in _english(message)]
    return sorted(MARK.findall(text)) in wanted


def test_borrowed_texts_are_allauths_own_and_said_in_our_words() -> None:
    folder = Path(allauth.__file__).parent / "locale"
    with (folder / "de/LC_MESSAGES/django.po").open("rb") as file:
        theirs = read_po(file)
    for text in borrowed.TEXTS:
        said = theirs.get(text)
        assert said is not None, text
        with translation.override("de"):
            assert translation.gettext(text) != said.string
