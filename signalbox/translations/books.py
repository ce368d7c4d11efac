"""The catalogues as files: read, brought up to date, written, compiled."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings

NO_DATE = datetime(1970, 1, 1, tzinfo=UTC)


def languages() -> list[str]:
    """All but English, whose words are in the code."""
    return [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


def place(language: str) -> Path:
    """Of the .po."""
    return Path(settings.LOCALE_PATHS[0], language, "LC_MESSAGES", "django.po")


def read(language: str) -> Catalog:
    """Empty for a language that has none yet."""
    path = place(language)
    if not path.exists():
        return Catalog(locale=language, project="Signalbox", charset="utf-8", fuzzy=False)
    with path.open("rb") as file:
        return read_po(file, locale=language, charset="utf-8")


def update(language: str, found: Catalog) -> Catalog:
    """The catalogue of a language with exactly the texts of `found`, as far as it had them."""
    held = read(language)
    made = Catalog(locale=language, project="Signalbox", charset="utf-8", fuzzy=False)
    for message in found:
        if not message.id:
            continue
        before = held.get(message.id, message.context)
        same = before is not None and before.id == message.id
        made.add(
            message.id,
            before.string if before is not None and same else "",
            auto_comments=message.auto_comments,
            user_comments=before.user_comments if before is not None and same else (),
            context=message.context,
        )
    return made


def written(catalog: Catalog) -> bytes:
    """The .po."""
    file = BytesIO()
    catalog.header_comment = "# The words of Signalbox. See docs/translation.md."
    write_po(file, catalog, width=100, no_location=True, omit_header=True, sort_output=True)
    return _header(catalog) + file.getvalue()


def _header(catalog: Catalog) -> bytes:
    """Without dates and names, which would differ with each change."""
    lines = (
        f"Language: {catalog.locale_identifier}",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: 8bit",
        f"Plural-Forms: {catalog.plural_forms}",
    )
    quoted = "\n".join(f'"{line}\\n"' for line in lines)
    return f'{catalog.header_comment}\nmsgid ""\nmsgstr ""\n{quoted}\n\n'.encode()


def compiled(po: bytes, language: str) -> bytes:
    """The .mo: the same for the same .po, whenever it is made."""
    catalog = read_po(BytesIO(po), locale=language, charset="utf-8")
    catalog.creation_date = catalog.revision_date = NO_DATE
    file = BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def untranslated(catalog: Catalog) -> list[str]:
    """The English of what has no translation, or only a guess."""
    return [
        message.id if isinstance(message.id, str) else message.id[0]
        for message in catalog
        if message.id and (message.fuzzy or not all(_forms(message.string)))
    ]


def _forms(string: str | tuple[str, ...] | list[str] | None) -> list[str]:
    return [string or ""] if string is None or isinstance(string, str) else list(string) or [""]
