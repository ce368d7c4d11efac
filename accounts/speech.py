"""What is said to people, in their own language.

1. The words in the code are English, and they are the key by which a translation is found: see
   docs/translation.md.
2. A page speaks the language that its reader chose under Settings; else what their browser asks
   for; else that of the instance. A mail speaks that of the person who receives it.
3. What is kept, and what programs read, is English: the audit log, stored reasons, logs, the API,
   the command line. An error therefore has two texts: `str(error)` is kept, `shown(error)` is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from django.conf import settings
from django.utils import translation
from django.utils.functional import Promise, lazy

KEPT = "en"
"""The language of the code, and of whatever is kept."""


def later(text: str, /, **values: object) -> str:
    """`text`, with `values` in its {names}, in whatever language it is shown in.

    For tables of words and for sentences that are made before it is known who reads them.
    """
    return _lazily(lambda: _filled(translation.gettext(text), values))


def joined(mark: str, parts: Iterable[object]) -> str:
    """Such texts with `mark` between them."""
    held = tuple(parts)
    return _lazily(lambda: str(mark).join(map(str, held)))


def _said(say: Callable[[], str]) -> str:
    return say()


_LAZY = lazy(_said, str)
"""Made once: each call of `lazy` builds a class, which takes longer than to say the text."""


def _lazily(say: Callable[[], str]) -> str:
    """Typed as the str that it is wherever it is formatted or rendered."""
    return _LAZY(say)


def of_mails(chosen: str) -> str:
    """The language of mails to somebody who has `chosen` this one, or none."""
    return chosen if chosen in known() else settings.DEFAULT_LANGUAGE


def known() -> list[str]:
    """The languages that there are."""
    return [code for code, _ in settings.LANGUAGES]


def inside(label: str) -> str:
    """A label as it is written inside of a sentence: other languages than English keep capitals."""
    return str(label).lower() if is_english() else str(label)


def is_english() -> bool:
    """Whether the language that is spoken now is that of the code."""
    return (translation.get_language() or KEPT).startswith(KEPT)


class Spoken(Exception):
    """Something went wrong."""

    def __init__(self, message: str | None = None, **values: object) -> None:
        """Without a message the class's docstring is it. `values` fill its {names}."""
        self.says = message if message else " ".join((type(self).__doc__ or "").split())
        self.values = values
        super().__init__(self.says)

    def __str__(self) -> str:
        """What is kept. Worked out only now: rules make many a refusal that nobody is told."""
        return kept(self.says, **self.values)

    @property
    def shown(self) -> str:
        """What the reader reads."""
        return _filled(_translated(self.says), self.values)


def kept(text: object, /, **values: object) -> str:
    """`text` in English, with `values` in its {names}, for what is stored."""
    with translation.override(KEPT):
        return _filled(str(text), values)


def _filled(text: str, values: dict[str, object]) -> str:
    """`text` as it is if it has no values: braces in it mean nothing then."""
    return text.format(**values) if values else text


def shown(said: object) -> str:
    """An error, or a text of ours that was kept in English, in the reader's language.

    What has no translation, such as the words of a stranger, comes back as it is.
    """
    return said.shown if isinstance(said, Spoken) else _translated(said)


def _translated(text: object) -> str:
    """What translates itself is left to it. Empty text is a header to gettext, and is not asked."""
    said = str(text)
    return said if isinstance(text, Promise) or not said else translation.gettext(said)
