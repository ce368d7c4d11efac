"""The format of Agent Inbox: the node receives a list of exactly one response.

    {"type": "accept", "args": {"action": …, "args": {…}}}      as it was asked
    {"type": "edit", "args": {"action": …, "args": {…}}}        as changed, with its JSON types
    {"type": "response", "args": "…"}
    {"type": "ignore", "args": null}

Source: the schema in the README of langchain-ai/agent-inbox. That inbox itself turns edited values
into text, which we do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from accounts.speech import later as _
from approvals.jsonforms.schemas import Schema
from approvals.shapes import base, edits
from approvals.shapes.base import (
    Action,
    Asked,
    BadReply,
    Choice,
    Malformed,
    Pick,
    Picks,
    Question,
    Said,
)

ACCEPT = Choice(key="accept", label=_("Accept"))
EDIT = Choice(key="edit", label=_("Accept as changed"), changes=True)
RESPOND = Choice(key="response", label=_("Respond"), text=_("Response"), text_needed=True)
IGNORE = Choice(key="ignore", label=_("Ignore"), refuses=True)
ALLOWED_BY = {
    "allow_accept": ACCEPT,
    "allow_edit": EDIT,
    "allow_respond": RESPOND,
    "allow_ignore": IGNORE,
}
TYPES = frozenset(each.key for each in ALLOWED_BY.values())


def detects(payload: object, schema: Schema | None) -> bool:
    return _one(payload) is not None


def _one(payload: object) -> Mapping[str, Any] | None:
    """The request; the payload is it, or a list with nothing else in it."""
    one = payload[0] if isinstance(payload, list) and len(payload) == 1 else payload
    if isinstance(one, Mapping) and all(
        isinstance(one.get(key), Mapping) for key in ("action_request", "config")
    ):
        return one
    return None


def describe(payload: object) -> Question:
    one = _of(payload)
    action = one["action_request"]
    return base.call(action.get("action"), action.get("args"), one.get("description"))


def actions(asked: Asked) -> tuple[Action, ...]:
    one = _of(asked.payload)
    name, args = one["action_request"].get("action"), one["action_request"].get("args")
    if not isinstance(name, str) or not isinstance(args, Mapping):
        raise Malformed(_("It lacks the name or the arguments of the action."))
    schema = edits.schema_of(asked, args)
    choices = [each for key, each in ALLOWED_BY.items() if one["config"].get(key) is True]
    if schema is None:
        choices = [each for each in choices if not each.changes]
    if not asked.exact:  # an acceptance sends the action back
        choices = [each for each in choices if each is not ACCEPT]
    if not choices:
        raise Malformed(_("It allows no response that can be given here."))
    why = one.get("description")
    return (
        Action(
            token=asked.token(0, one),
            tool=name,
            args=args,
            why=why if isinstance(why, str) else "",
            choices=tuple(choices),
            schema=schema,
        ),
    )


def default(action: Action, choice: Choice, text: str) -> Pick | None:
    del action, text
    return Pick(choice=choice.key) if choice in (ACCEPT, IGNORE) else None


def write(actions: tuple[Action, ...], picks: Picks) -> object:
    return _write(actions[0], picks[actions[0].token])


def _write(action: Action, pick: Pick) -> dict[str, object]:
    given: object = None
    if pick.choice == RESPOND.key:
        given = pick.text
    elif pick.choice in (ACCEPT.key, EDIT.key):
        held = action.args if pick.args is None else pick.args
        given = {"action": action.tool, "args": dict(held) if isinstance(held, Mapping) else held}
    return {"type": pick.choice, "args": given}


def read(
    actions: tuple[Action, ...],
    verdict: str,
    value: object,
    args: Mapping[str, object] | None,
) -> dict[str, Pick]:
    if args is not None:
        raise BadReply(_("Changed arguments belong into a response of type edit."))
    if not isinstance(value, Mapping) or value.keys() != {"type", "args"}:
        raise BadReply(_("A response is one object with a type and args."))
    kind, given = value["type"], value["args"]
    if not isinstance(kind, str) or kind not in TYPES:
        raise BadReply(_("The type of a response is accept, edit, response or ignore."))
    return {actions[0].token: _read(actions[0], kind, given)}


def _read(action: Action, kind: str, given: object) -> Pick:
    if kind == RESPOND.key:
        if not isinstance(given, str):
            raise BadReply(_("The args of a response are text."))
        return Pick(choice=kind, text=given)
    if kind == IGNORE.key:
        if given is not None:
            raise BadReply(_("To ignore takes no args."))
        return Pick(choice=kind)
    same = {"action": action.tool, "args": action.args}
    if kind == ACCEPT.key:
        if base.fingerprint(given) != base.fingerprint(same):
            raise BadReply(_("To accept is to send the action back as it came."))
        return Pick(choice=kind)
    if not isinstance(given, Mapping) or given.keys() != {"action", "args"}:
        raise BadReply(_("The args of an edit are an action and its args."))
    if given["action"] != action.tool or not isinstance(given["args"], Mapping):
        raise BadReply(_("An edit may not switch to another action."))
    return Pick(choice=kind, args=given["args"])


def changed(payload: object, args: Sequence[Mapping[str, object] | None]) -> object:
    one = _of(payload)
    if args[0] is None:
        return payload
    return {**one, "action_request": {**one["action_request"], "args": dict(args[0])}}


def answer(
    asked: Asked,
    verdict: str,
    picks: tuple[tuple[Action, Pick], ...],
    said: Said,
) -> object:
    return [_write(*picks[0])] if picks else base.NOTHING


def _of(payload: object) -> Mapping[str, Any]:
    one = _one(payload)
    if one is None:
        raise base.Unshaped
    return one
