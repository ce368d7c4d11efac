"""How fakepay can misbehave, one request at a time.

A fault text is a comma list, `delay:2,drop_after`. It comes with the request (the header
`X-Fakepay-Fault`) or was armed beforehand (`POST /_control/faults`, or `--always` at the start);
the header wins, then what was armed first.

    delay:SECONDS         wait before performing; the key is in flight meanwhile
    delay_after:SECONDS   perform, then wait before the answer; the key is in flight meanwhile
    drop_before           close the connection without performing and without an answer
    drop_after            perform, then close the connection without an answer
    500_before            answer 500 without performing; the 500 is stored under the key
    500_after             perform, then answer 500; the 500 is stored under the key
    402                   decline; stored under the key
    429, 429:SECONDS      too many requests, Retry-After of so many whole seconds (1); not stored
    409                   another request with this key is in progress; not stored
    503                   a gateway says that fakepay is away; not performed, not stored

Delays, one drop and one status compose. A request that is answered from its key (a replay) is
delayed, dropped or turned away like any other, but 500 and 402 need an endpoint that runs.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

OUTCOMES = {"500_before", "500_after", "402", "429", "409", "503"}
AT_THE_DOOR = {"429", "409", "503"}
DROPS = {"drop_before", "drop_after"}
LONGEST = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong with one request. The default is nothing."""

    delay: float = 0.0
    delay_after: float = 0.0
    drop: str | None = None
    outcome: str | None = None
    retry_after: int = 1

    @property
    def turns_away(self) -> bool:
        """The request ends at the door: it neither claims its key nor reaches the endpoint."""
        return self.drop == "drop_before" or self.outcome in AT_THE_DOOR


def parse(text: str) -> Fault:
    """Read a comma list of faults; empty text is no fault. `ValueError` says what is wrong."""
    found: dict[str, float | str | int] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, _, argument = item.partition(":")
        if name in ("delay", "delay_after"):
            new: dict[str, float | str | int] = {name: _seconds(item, argument)}
        elif name == "429" and argument:
            new = {"outcome": name, "retry_after": math.ceil(_seconds(item, argument))}
        elif item in OUTCOMES:
            new = {"outcome": item}
        elif item in DROPS:
            new = {"drop": item}
        else:
            raise ValueError(f"there is no fault {item!r}")
        if found.keys() & new.keys():
            raise ValueError(f"{item!r} does not go together with another fault of {text!r}")
        found |= new
    return Fault(**found)  # type: ignore[arg-type]  # each name is written with its own type above


def _seconds(item: str, argument: str) -> float:
    try:
        seconds = float(argument)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= LONGEST:
        raise ValueError(f"{item!r} needs seconds from 0 to {LONGEST:.0f} after the colon")
    return seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Which requests an armed fault waits for. A field that is None matches every request."""

    method: str | None = "POST"
    path: str | None = None
    order_id: str | None = None
    to: str | None = None
    key_prefix: str | None = None

    def fits(self, *, method: str, path: str, key: str | None, sent: Mapping[str, object]) -> bool:
        """Whether a request with these properties is meant."""
        return (
            self.method in (None, method)
            and self.path in (None, path)
            and self.order_id in (None, sent.get("order_id"))
            and self.to in (None, sent.get("to"))
            and (self.key_prefix is None or (key or "").startswith(self.key_prefix))
        )


@dataclass(slots=True, kw_only=True)
class Armed:
    """A fault that waits: it lets `skip` matching requests pass, then hits the next `times`."""

    match: Match
    fault: str
    times: int = 1
    skip: int = 0


class Unusable(ValueError):
    """What was sent to the switches cannot be used; says what can."""


def read(text: str | bytes) -> Armed:
    """The fault that a JSON object describes. Raises Unusable."""
    wanted = json_object(text)
    match = wanted.pop("match", {})
    if not isinstance(match, dict):
        raise Unusable("match is an object.")
    _only(match, ("method", "path", "order_id", "to", "key_prefix"), "match")
    _only(wanted, ("fault", "times", "skip"), "a fault, besides match,")
    if "fault" not in wanted:
        raise Unusable('Say which fault: {"fault": "drop_after"}.')
    fault, times, skip = (wanted.get(name, usual) for name, usual in USUAL.items())
    if not all(isinstance(value, str) for value in (fault, *match.values()) if value is not None):
        raise Unusable("fault and everything in match are text.")
    try:
        parse(str(fault))
    except ValueError as problem:
        raise Unusable(f"{problem}.") from problem
    if type(times) is not int or type(skip) is not int or times < 1 or skip < 0:
        raise Unusable("times is a whole number, at least 1; skip one, at least 0.")
    return Armed(match=Match(**match), fault=str(fault), times=times, skip=skip)


USUAL: dict[str, object] = {"fault": "", "times": 1, "skip": 0}


def json_object(text: str | bytes) -> dict[str, object]:
    """Raises Unusable unless `text` is a JSON object."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Unusable("Send a JSON object.")
    return found


def _only(found: Mapping[str, object], known: tuple[str, ...], what: str) -> None:
    strange = [name for name in found if name not in known]
    if strange:
        raise Unusable(f"{what} has {', '.join(known)}, but no {', '.join(strange)}.")


@dataclass(slots=True, kw_only=True)
class Always:
    """A fault that stays: it hits the first request of each key, and `key#2` is the same key."""

    match: Match
    fault: str
    hit: set[str] = field(default_factory=set)


class Queue:
    """Armed faults, first come first served. In memory: a restart disarms them.

    Those in `always` are there from the start, and come after all others.
    """

    def __init__(self, always: tuple[Armed, ...] = ()) -> None:
        self._lock = threading.Lock()
        self._armed: list[Armed] = []
        self._always = [Always(match=each.match, fault=each.fault) for each in always]

    def arm(self, armed: Armed) -> None:
        """Add a fault behind the others. `ValueError` when its text is no fault."""
        parse(armed.fault)
        with self._lock:
            self._armed.append(armed)

    def take(self, *, method: str, path: str, key: str | None, sent: Mapping[str, object]) -> str:
        """The fault text for this request, used up; empty when none is meant for it."""
        with self._lock:
            for armed in self._armed:
                if not armed.match.fits(method=method, path=path, key=key, sent=sent):
                    continue
                if armed.skip:
                    armed.skip -= 1
                    return ""
                armed.times -= 1
                if not armed.times:
                    self._armed.remove(armed)
                return armed.fault
            first = (key or "").partition("#")[0]
            for always in self._always:
                if first in always.hit:
                    continue
                if always.match.fits(method=method, path=path, key=key, sent=sent):
                    always.hit.add(first)
                    return always.fault
        return ""

    def waiting(self) -> list[dict[str, object]]:
        """What is still armed, in order."""
        with self._lock:
            return [asdict(armed) for armed in self._armed]

    def clear(self) -> None:
        """Disarm everything."""
        with self._lock:
            self._armed.clear()
