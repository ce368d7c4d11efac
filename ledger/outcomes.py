"""How one call to the outside ended: it happened, it was refused for certain, or nobody knows.

1. "Refused" is said only when nothing can have happened by this call. Everything that does not
   prove one or the other is unknown; an outcome is never guessed.
2. A refusal says something about earlier, unheard calls under the same key only if it is decisive:
   a provider that deduplicates answers such a call with what the first one led to.
3. A tool makes one call. If it made two, an error of the second would be taken for the first's.
4. An outcome can be made of anything: what is not of the type that is asked for becomes text, a
   number in bounds, or nothing, and a switch is on only if it is True. A definite answer is never
   lost over how it was handed over.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import Enum, auto

import httpx

LONGEST_TEXT = 100_000
"""Characters that are kept of a reason or a reference at all; what is stored is cut further."""
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

    def __post_init__(self) -> None:
        made: dict[str, object] = {
            "reference": as_text(self.reference),
            "reason": as_text(self.reason),
            "retry_after": _seconds(self.retry_after),
            "http_status": _status(self.http_status),
        }
        switches = ("retryable", "decisive", "in_progress", "replayed")
        made |= {name: getattr(self, name) is True for name in switches}
        kind: object = self.kind
        if not isinstance(kind, Kind):
            made |= {"kind": Kind.UNKNOWN, "reason": f"{as_text(kind)} is no kind of outcome"}
        for name, value in made.items():
            object.__setattr__(self, name, value)

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "reference", as_text(self.reference))


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
    retry_after = response.headers.get("Retry-After")
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
    if isinstance(exc, NOTHING_WAS_SENT):
        return Outcome.refused(f"no connection ({as_text(exc)})", retryable=True)
    return Outcome.unknown(as_text(exc))


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
            return as_text(reference(body))
        except Exception:  # a body of another shape must not turn a success into a doubt
            return ""
    return as_text(body.get(reference)) if isinstance(body, dict) else ""


# --- whatever a tool hands over ------------------------------------------------------------------


def as_text(value: object) -> str:
    """Text for anything: empty for None, an exception with the name of its class. Never raises."""
    if value is None:
        return ""
    try:
        said = str(value)[:LONGEST_TEXT]
    except Exception:  # user code runs here
        said = "" if isinstance(value, BaseException) else "(cannot be shown)"
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {said}" if said else type(value).__name__
    return said


def _seconds(wait: object) -> float | None:
    """Seconds of what Retry-After may hold (RFC 9110, 10.2.3): a number, or a date; else None."""
    if isinstance(wait, timedelta):
        wait = wait.total_seconds()
    try:
        seconds = float(wait)  # type: ignore[arg-type]  # whatever it is
    except Exception:
        seconds = _until(wait)
    return min(max(seconds, 0.0), LONGEST_WAIT) if math.isfinite(seconds) else None


def _until(date: object) -> float:
    """Seconds until this date of a header; NaN if it is none."""
    try:
        until = parsedate_to_datetime(as_text(date))
        return (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    except Exception:  # whatever the parser makes of it
        return math.nan


def _status(status: object) -> int | None:
    try:
        number = int(status)  # type: ignore[call-overload]  # whatever it is
    except Exception:
        return None
    return number if 100 <= number <= 999 else None
