"""What a call to /v1 does: record it, deduplicate it, perform it, misbehave if told to.

    POST /v1/refunds   {order_id, amount_cents, currency, reason?}
    POST /v1/mails     {to, subject, text, order_id?}
    POST /v1/cancellations   {refund_id, reason?}      takes a refund back, once
    GET  /v1/refunds?key=K, /v1/mails?key=K, …   what was performed under a key
    GET  /v1/refunds/ID, /v1/mails/ID

Deduplication follows Stripe (https://docs.stripe.com/api/idempotent_requests): the first answer
of an endpoint that ran is stored under the request's Idempotency-Key and replayed with the header
`Idempotent-Replayed: true`, errors too; the same key with other parameters is refused; a request
that failed validation or met another one in flight stores nothing. It can be switched off for
all (`dedup`) or for one request (`X-Fakepay-Dedup: off`); then every request performs.

Look-ups by key hide what is younger than the visibility delay, as a provider with a slow search
index does. Look-ups by id never do.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agents.fakepay import events, faults
from agents.fakepay.faults import Fault
from agents.fakepay.storage import CANCELLATION, MAIL, REFUND, Held, Kind, Row, Storage

LONGEST_KEY = 255
LONGEST_TEXT = 10_000
LARGEST_AMOUNT = 99_999_999


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request as it arrived, whole. `key` of a look-up is the key it asks for."""

    method: str
    path: str
    key: str | None
    body: bytes
    fault: str
    dedup: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes back: a status, JSON text and further headers."""

    status: int
    body: str
    headers: Mapping[str, str] = field(default_factory=dict)


class Refused(Exception):
    """The call ends here with an error answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.body)
        self.answer = answer


def error(status: int, kind: str, code: str, message: str, **headers: str) -> Answer:
    """An error answer; header names are written with underscores."""
    return Answer(
        status=status,
        body=json.dumps({"error": {"type": kind, "code": code, "message": message}}),
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


class Provider:
    """The provider itself, shared by all threads of the server."""

    def __init__(
        self,
        storage: Storage,
        *,
        dedup: bool,
        visibility_delay: float,
        always: tuple[faults.Armed, ...] = (),
        tells_after: float | None = None,
    ) -> None:
        """`tells_after` so many seconds somebody is told what was performed; None: nobody is."""
        self.storage = storage
        self.tells_after = tells_after
        self.dedup = dedup
        self.visibility_delay = visibility_delay
        self.armed = faults.Queue(always)

    def handle(self, call: Call) -> Answer | None:
        """Serve a call. None: close the connection without an answer."""
        parameters = _parameters(call.body)
        text = call.fault or self.armed.take(
            method=call.method,
            path=call.path,
            key=call.key,
            sent=parameters or {},
        )
        request_id = self.storage.record(
            method=call.method,
            path=call.path,
            key=call.key,
            body=call.body.decode(errors="replace"),
            fault=text,
        )
        end = "crashed"
        try:
            fault = _fault(text)
            answer = self._serve(call, parameters, fault, request_id)
            time.sleep(fault.delay_after)
            if fault.drop:
                answer = None
            end = str(answer.status) if answer else "dropped"
        except Refused as refused:
            answer = refused.answer
            end = str(answer.status)
        finally:
            self.storage.finish(request_id, end)
        return answer

    def _serve(
        self, call: Call, parameters: dict[str, object] | None, fault: Fault, request_id: int
    ) -> Answer | None:
        collection, _, identity = call.path.removeprefix("/v1/").partition("/")
        resource = RESOURCES.get(collection)
        if resource is None:
            raise Refused(error(404, "invalid_request_error", "no_such_path", "No such path."))
        if call.method == "GET":
            time.sleep(fault.delay)
            return _misbehaviour(fault) or self._look_up(resource.kind, call.key, identity)
        if call.method != "POST" or identity:
            message = "POST to the collection, GET everything else."
            raise Refused(error(405, "invalid_request_error", "method", message, Allow="GET, POST"))
        return self._post(call, resource.check(parameters), resource.kind, fault, request_id)

    def _look_up(self, kind: Kind, key: str | None, identity: str) -> Answer:
        if identity:
            row = self.storage.get(kind, identity)
            if row is None:
                return error(404, "invalid_request_error", "resource_missing", "No such id.")
            return Answer(status=200, body=json.dumps(row))
        if not key:
            return error(400, "invalid_request_error", "parameter_missing", "Ask with ?key=.")
        rows = self.storage.find(kind, key, delay=self.visibility_delay)
        return Answer(status=200, body=json.dumps({"object": "list", "data": rows}))

    def _post(
        self, call: Call, values: dict[str, object], kind: Kind, fault: Fault, request_id: int
    ) -> Answer | None:
        if call.key is not None and not 0 < len(call.key) <= LONGEST_KEY:
            message = f"An Idempotency-Key has 1 to {LONGEST_KEY} characters."
            raise Refused(error(400, "invalid_request_error", "key_length", message))
        held = None
        mark = _fingerprint(call.path, values)
        if self.dedup and call.dedup and call.key and not fault.turns_away:
            held = self.storage.claim(call.key, mark, request_id)
        time.sleep(fault.delay)
        if fault.turns_away:
            return _misbehaviour(fault)
        if held is not None:
            return _held_answer(held, mark)
        return self._perform(kind, {**values, "key": call.key}, fault, request_id)

    def _perform(
        self, kind: Kind, values: dict[str, object], fault: Fault, request_id: int
    ) -> Answer:
        with self.storage.transaction():
            answer = _misbehaviour(fault)
            if kind is CANCELLATION and not self.storage.can_be_cancelled(str(values["refund_id"])):
                answer = error(400, "invalid_request_error", "not_cancellable", "No such refund.")
            elif answer is None or fault.outcome == "500_after":
                row = self.storage.perform(kind, values, request_id)
                self._tell(kind, row)
                answer = answer or Answer(status=200, body=json.dumps(row))
            self.storage.keep(request_id, status=answer.status, response=answer.body)
        return answer

    def _tell(self, kind: Kind, row: Row) -> None:
        if self.tells_after is None:
            return
        refund = row
        if kind is CANCELLATION:
            refund = self.storage.get(REFUND, str(row["refund_id"])) or {}
        for event in events.about(row, refund=refund):
            self.storage.add_event(event, time.time() + self.tells_after)


def _held_answer(held: Held, fingerprint: str) -> Answer:
    """What a request gets whose key an earlier one claimed."""
    if held.fingerprint != fingerprint:
        message = "This Idempotency-Key was used with other parameters. Use another key."
        return error(400, "idempotency_error", "key_reused", message)
    if not held.done:
        return _in_progress()
    return Answer(status=held.status, body=held.response, headers={"Idempotent-Replayed": "true"})


def _misbehaviour(fault: Fault) -> Answer | None:
    """The error answer that a fault asks for, if it asks for one."""
    match fault.outcome:
        case "402":
            return error(402, "card_error", "declined", "The refund was declined.")
        case "409":
            return _in_progress()
        case "429":
            wait = str(fault.retry_after)
            return error(429, "rate_limit_error", "rate_limit", "Slow down.", Retry_After=wait)
        case "503":
            return error(503, "api_error", "unavailable", "fakepay cannot be reached right now.")
        case "500_before" | "500_after":
            return error(500, "api_error", "api_error", "Something went wrong at fakepay.")
    return None


def _in_progress() -> Answer:
    message = "Another request with this Idempotency-Key is in progress. Ask again later."
    return error(409, "idempotency_error", "in_progress", message)


def _fault(text: str) -> Fault:
    try:
        return faults.parse(text)
    except ValueError as problem:
        refusal = error(400, "invalid_request_error", "fault", f"X-Fakepay-Fault: {problem}.")
        raise Refused(refusal) from problem


def _fingerprint(path: str, values: Mapping[str, object]) -> str:
    text = json.dumps([path, values], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


# --- parameters ----------------------------------------------------------------------------------

Check = Callable[[object], bool]


def _line(longest: int) -> Check:
    """One line of visible text: no control, format or half characters."""
    return lambda value: (
        isinstance(value, str) and (0 < len(value) <= longest and value.isprintable())
    )


def _prose(value: object) -> bool:
    """Any text that has a UTF-8 form."""
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        return False
    return re.search("[\ud800-\udfff]", value) is None


def _amount(value: object) -> bool:
    return type(value) is int and 0 < value <= LARGEST_AMOUNT


def _currency(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[A-Za-z]{3}", value) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """What may be posted to one path."""

    kind: Kind
    required: Mapping[str, Check]
    optional: Mapping[str, Check]

    def check(self, parameters: dict[str, object] | None) -> dict[str, object]:
        """All parameters by name, absent ones as None. `Refused` with 400 or 422."""
        if parameters is None:
            message = "The body must be a JSON object."
            raise Refused(error(400, "invalid_request_error", "body", message))
        known = {**self.required, **self.optional}
        wrong = [name for name in parameters if name not in known]
        wrong += [name for name in self.required if parameters.get(name) is None]
        wrong += [
            name
            for name, value in parameters.items()
            if name in known and value is not None and not known[name](value)
        ]
        if wrong:
            message = f"Missing, unknown or wrong: {', '.join(wrong)}."
            raise Refused(error(422, "invalid_request_error", "parameters", message))
        return {name: parameters.get(name) for name in known}


RESOURCES = {
    "refunds": Resource(
        kind=REFUND,
        required={"order_id": _line(100), "amount_cents": _amount, "currency": _currency},
        optional={"reason": _prose},
    ),
    "cancellations": Resource(
        kind=CANCELLATION,
        required={"refund_id": _line(100)},
        optional={"reason": _prose},
    ),
    "mails": Resource(
        kind=MAIL,
        required={"to": _line(254), "subject": _line(200), "text": _prose},
        optional={"order_id": _line(100)},
    ),
}


def _parameters(body: bytes) -> dict[str, object] | None:
    """The JSON object in a body, or None if there is none."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
