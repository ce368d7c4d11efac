"""Money in a question: what its arguments move, and what the agent's words say that they move."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from approvals.policies import wording
from approvals.policies.wording import MINOR, NOT_IN_HUNDREDTHS
from approvals.shapes import Question

__all__ = ["MINOR", "Amount", "of", "others"]

_DECIMALS = re.compile(r"[.,](\d{1,2})$")
_SIGN = r"(?:[€$£¥₹₩]|\b[A-Z]{3}\b)"
_MONEY = re.compile(rf"{_SIGN}\s?(\d[\d.,]*)|(\d[\d.,]*)\s?{_SIGN}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Money that moves if the request is approved."""

    minor: int
    currency: str

    def is_named_by(self, number: str) -> bool:
        """Whether a number as written in a text (600, 600.00, 1.299,50) means this amount."""
        if self.currency in NOT_IN_HUNDREDTHS:
            return True
        number = number.rstrip(".,")
        found = _DECIMALS.search(number)
        whole = re.sub(r"\D", "", number[: found.start()] if found else number)
        return Decimal(f"{whole or 0}.{found[1] if found else 0}") * 100 == abs(self.minor)


def of(args: object) -> Amount | None:
    """The money in the arguments, where its unit and currency are beyond doubt."""
    money = wording.amount(args)
    return Amount(minor=money[0], currency=money[1]) if money else None


def others(amount: Amount | None, question: Question) -> tuple[str, ...]:
    """Amounts that the agent's words name and the arguments do not."""
    if amount is None:
        return ()
    words = (question.title, *(text for text in question.facts.values() if isinstance(text, str)))
    named = (match for text in words for match in _MONEY.finditer(text))
    return tuple(
        dict.fromkeys(
            match[0].strip() for match in named if not amount.is_named_by(match[1] or match[2])
        )
    )
