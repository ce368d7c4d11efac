"""The summary of what will happen: a policy's template, filled by the server from named fields.

`Refund {amount} for order {args.order_id}`. A template takes plain values by their path and
`{amount}`, which is `args.amount_cents` (or another name of money in its smallest unit) with
`args.currency`. Nothing else: no attributes, no formats, no code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from accounts.speech import later
from approvals.policies.subjects import Subject, is_path

LONGEST = 200
"""Characters of one value in a sentence."""
AMOUNT = "amount"
MINOR = ("amount_cents", "amount_minor", "amount_in_cents", "cents")
"""Names of arguments that hold money in the smallest unit of their `currency`."""
NOT_IN_HUNDREDTHS = "BHD CLP ISK JOD JPY KRW KWD OMR PYG RWF TND UGX VND XAF XOF XPF"
"""ISO 4217: currencies whose smallest unit is no hundredth."""
_CODE = re.compile(r"[A-Z]{3}")
_FIELD = re.compile(r"\{([^{}]*)\}")


def problem(template: str) -> str:
    """What is wrong with a template; empty if it can be used."""
    for name in _FIELD.findall(template):
        if name != AMOUNT and not is_path(name):
            return later(
                "{name} is not a field. Use fields such as {example}.",
                name=f"{{{name[:100]}}}",
                example="{args.order_id}",
            )
    if set(_FIELD.sub("", template)) & set("{}"):
        return later("a brace is open or closes nothing.")
    return ""


def summary(template: str, subject: Subject) -> str:
    """The sentence; empty if a field is missing or is no short plain value."""
    words = {name: _word(name, subject) for name in _FIELD.findall(template)}
    if not template or None in words.values():
        return ""
    return _FIELD.sub(lambda found: words[found[1]] or "", template)


def amount(args: object) -> tuple[int, str] | None:
    """Minor units and currency of the money in `args`, where both are beyond doubt."""
    if not isinstance(args, Mapping):
        return None
    currency = args.get("currency")
    held = [args[name] for name in MINOR if name in args]
    if not isinstance(currency, str) or not _CODE.fullmatch(currency) or len(held) != 1:
        return None
    minor = held[0]
    return None if isinstance(minor, bool) or not isinstance(minor, int) else (minor, currency)


def _word(name: str, subject: Subject) -> str | None:
    if name == AMOUNT:
        money = amount(subject.args)
        return money and _money(*money)
    value = subject.look(name)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, str | int | float):
        return None
    word = " ".join(str(value).split())
    return word if 0 < len(word) <= LONGEST else None


def _money(minor: int, currency: str) -> str:
    if currency in NOT_IN_HUNDREDTHS:
        return f"{currency} {minor:,} (smallest unit)"
    return f"{currency} {'-' * (minor < 0)}{abs(minor) // 100:,}.{abs(minor) % 100:02}"
