"""How one call to the outside ended: it happened, it was refused for certain, or nobody knows.

1. "Refused" is said only when nothing can have happened by this call. Everything that does not
   prove one or the other is unknown; an outcome is never guessed.
2. A refusal says something about earlier, unheard calls under the same key only if it is decisive:
   a provider that deduplicates answers such a call with what the first one led to.
3. A tool makes one call. If it made two, an error of the second would be taken for the first's.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, auto

import httpx

LONGEST_WAIT = 24 * 3600.0
"""Seconds of a Retry-After that are honoured at most."""
DECISIVE = 402
"""Declined: the endpoint ran. Other refusals may come from before the provider looks at the key."""
AMBIGUOUS = frozenset({408})
"""Refusals that gateways also send while the request is under way behind them."""


class Kind(Enum):
    SUCCESS = auto()
    REFUSED = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a tool returns to the ledger. Make one with `success`, `refused`, `unknown`."""

    kind: Kind
    reference: str = ""
    result: object = None
    reason: str = ""
    retryable: bool = False
    retry_after: float | None = None
    """Seconds that the provider asks us to wait."""
    decisive: bool = False
    in_progress: bool = False
    """The provider works on an earlier call with this key: wait, and ask again."""
    replayed: bool = False
    """The provider said that this answer repeats an earlier one."""
    http_status: int | None = None

    @classmethod
    def success(cls, reference: str, result: object = None) -> Outcome:
        """It happened. `reference` finds it at the provider; the node gets `result`."""
        return cls(kind=Kind.SUCCESS, reference=reference, result=result)

    @classmethod
    def refused(
        cls,
        reason: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        decisive: bool = False,
    ) -> Outcome:
        """Nothing happened by this call, for certain; it may be tried again if `retryable`.

        `decisive`: neither did anything happen by earlier calls under the same key.
        """
        return cls(
            kind=Kind.REFUSED,
            reason=reason,
            retryable=retryable,
            retry_after=retry_after,
            decisive=decisive,
        )

    @classmethod
    def unknown(cls, reason: str) -> Outcome:
        """It may have happened or not."""
        return cls(kind=Kind.UNKNOWN, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a look-up returns if the provider says that it happened; None if it says no."""

    reference: str
    result: object = None


def from_response(
    response: httpx.Response, *, reference: str | Callable[[object], str] = "id"
) -> Outcome:
    """The outcome that an HTTP answer stands for.

    2xx: it happened; `reference` is a field of the JSON body, or a function of the body. 409: an
    earlier call with this key is in progress, unless the answer is a replay. 429: refused for now.
    Other 4xx: refused for certain, but 408 is unknown like 5xx and everything else. A tool whose
    provider means something else by a status says so with `Outcome.refused` or `Outcome.unknown`.
    """
    status, body = response.status_code, _body(response)
    facts = _Facts(status, replayed=response.headers.get("Idempotent-Replayed") == "true")
    if 200 <= status < 300:
        return facts.outcome(Kind.SUCCESS, reference=_reference(body, reference), result=body)
    reason = f"HTTP {status}: {_excerpt(response)}"
    retry_after = _retry_after(response)
    if status == httpx.codes.CONFLICT and not facts.replayed:
        return facts.outcome(Kind.UNKNOWN, reason=reason, in_progress=True, retry_after=retry_after)
    if status == httpx.codes.TOO_MANY_REQUESTS:
        return facts.outcome(Kind.REFUSED, reason=reason, retryable=True, retry_after=retry_after)
    if 400 <= status < 500 and status not in AMBIGUOUS:
        decisive = facts.replayed or status == DECISIVE
        return facts.outcome(Kind.REFUSED, reason=reason, decisive=decisive)
    return facts.outcome(Kind.UNKNOWN, reason=reason, retry_after=retry_after)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What every outcome of one answer has in common."""

    status: int
    replayed: bool

    def outcome(self, kind: Kind, **facts: object) -> Outcome:
        return Outcome(kind=kind, http_status=self.status, replayed=self.replayed, **facts)  # type: ignore[arg-type]  # each fact is named above


NOTHING_WAS_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    ConnectionRefusedError,
    socket.gaierror,
)


def from_exception(exc: BaseException) -> Outcome:
    """The outcome of a call that raised: refused for now if there was no connection, else unknown.

    The ledger applies it to whatever a tool raises; a tool need not catch anything.
    """
    said = f"{type(exc).__name__}: {exc}" if str(exc) else type(exc).__name__
    if isinstance(exc, NOTHING_WAS_SENT):
        return Outcome.refused(f"no connection ({said})", retryable=True)
    return Outcome.unknown(said)


def of_returned(value: object) -> Outcome:
    """The outcome that a tool's return value stands for."""
    if isinstance(value, Outcome):
        return value
    if isinstance(value, httpx.Response):
        return from_response(value)
    return Outcome.unknown(
        f"the tool returned {type(value).__name__} instead of an Outcome, so nobody knows"
    )


def _body(response: httpx.Response) -> object:
    try:
        return response.json()
    except (ValueError, RecursionError, httpx.ResponseNotRead):
        return _text(response)


def _text(response: httpx.Response) -> str | None:
    try:
        return response.text or None
    except (httpx.ResponseNotRead, LookupError):
        return None


def _excerpt(response: httpx.Response) -> str:
    return (_text(response) or response.reason_phrase)[:500]


def _reference(body: object, reference: str | Callable[[object], str]) -> str:
    if callable(reference):
        try:
            return str(reference(body))
        except Exception:  # a body of another shape must not turn a success into a doubt
            return ""
    found = body.get(reference) if isinstance(body, dict) else None
    return "" if found is None else str(found)


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds of the header Retry-After (RFC 9110, 10.2.3: a number, or a date)."""
    text = response.headers.get("Retry-After", "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            until = parsedate_to_datetime(text)
        except ValueError:
            return None
        seconds = (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return min(max(seconds, 0.0), LONGEST_WAIT) if math.isfinite(seconds) else None
