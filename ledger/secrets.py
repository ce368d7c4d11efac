"""Secrets that are passed by reference: looked up when the call is made, and stored nowhere.

    @effect("payments.payout", ..., redact={"iban"})
    def pay_out(iban: str, cents: int, *, idempotency_key: str) -> Outcome: ...

    pay_out(iban="secret:supplier-7", cents=4200)

1. The ledger, the key, the approval and the audit log know the reference. Only the function gets
   the value, and it gets the same one when the call is made again, unless the secret has changed.
2. Only in fields that the tool names in `redact=` is "secret:…" a reference: a model that writes it
   into a mail sends these words and nothing else.
3. A secret belongs to a tool. What the tool may not have cannot be named.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from django.conf import settings

from audit.canonical import Json
from ledger import errors, ports, redaction
from ledger.redaction import PREFIX

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


class Files:
    """Secrets as files, the way container platforms mount them: LEDGER_SECRETS_DIR/TOOL/NAME."""

    def get(self, tool: str, name: str) -> str:
        """See `ledger.ports.Secrets`."""
        if not settings.LEDGER_SECRETS_DIR:
            raise errors.SecretMissing(f"Set LEDGER_SECRETS_DIR; {tool} needs {name!r} from there.")
        if not _NAME.fullmatch(name):
            raise errors.SecretMissing(f"{name[:100]!r} cannot be the name of a secret.")
        path = Path(settings.LEDGER_SECRETS_DIR) / tool / name
        try:
            return path.read_text().rstrip("\n")
        except (OSError, UnicodeDecodeError) as exc:
            raise errors.SecretMissing(f"{tool} has no secret {name!r}: {path}") from exc


def resolve(
    tool: str, args: Mapping[str, Json], fields: Collection[str]
) -> tuple[dict[str, Json], frozenset[str]]:
    """The arguments with each reference in these fields replaced by its secret; and the secrets.

    Raises SecretMissing, and whatever the source of the secrets raises.
    """
    if not fields:
        return dict(args), frozenset()
    source, found = ports.secrets(), set[str]()

    def of(value: Json) -> Json:
        if isinstance(value, list):
            return [of(item) for item in value]
        if isinstance(value, dict):
            return {name: field(name, item) for name, item in value.items()}
        return value

    def field(name: str, value: Json) -> Json:
        if name not in fields or not isinstance(value, str) or not redaction.is_reference(value):
            return of(value)
        secret = source.get(tool, value.removeprefix(PREFIX))
        found.add(secret)
        return secret

    return {name: field(name, value) for name, value in args.items()}, frozenset(found)
