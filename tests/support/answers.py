"""What a person's reply becomes, without a database: for tests of shapes and of nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

from approvals import shapes
from approvals.jsonforms import schemas
from approvals.shapes import Asked, Given
from approvals.status import Verdict
from audit import canonical


def asked(
    payload: object,
    *,
    schema: object = None,
    answers: Mapping[str, object] | None = None,
    editable: Collection[str] = (),
) -> Asked:
    """The question in `payload` as a request would keep it."""
    return Asked(
        shape=shapes.detect(payload, schema),
        payload=canonical.visible(payload),
        digest=shapes.fingerprint(payload),
        schema=schemas.of(schema),
        answers=answers or {},
        may_change=lambda name: any(fnmatchcase(name, pattern) for pattern in editable),
    )


def answer(
    question: Asked,
    verdict: str,
    *,
    value: object = None,
    args: Mapping[str, object] | None = None,
    comment: str = "",
    by: str = "Ben",
) -> object:
    """What the node receives. Raises what `shapes.give` raises."""
    if verdict == Verdict.EXPIRED:
        return shapes.expired(question, by=by)
    given: Given = shapes.give(question, verdict, value=value, args=args, comment=comment)
    return shapes.answer(given, comment=comment, by=by)
