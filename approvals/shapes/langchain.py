"""One decision of LangChain's `HumanInTheLoopMiddleware`, in both of its modes.

{"type": "approve"}
{"type": "edit", "edited_action": {"name": …, "args": {…}}}
{"type": "reject", "message"?: …}
{"type": "respond", "message": …}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from accounts.speech import later as _
from approvals.shapes.base import APPROVE, EDIT, Action, BadReply, Choice, Malformed, Pick

REJECT = Choice(key="reject", label=_("Reject"), refuses=True, text=_("Reason"))
RESPOND = Choice(key="respond", label=_("Answer in its place"), text=_("Answer"), text_needed=True)
CHOICES = {each.key: each for each in (APPROVE, EDIT, REJECT, RESPOND)}
KEYS = {
    "approve": ({"type"}, set[str]()),
    "edit": ({"type", "edited_action"}, set[str]()),
    "reject": ({"type"}, {"message"}),
    "respond": ({"type", "message"}, set[str]()),
}
"""Which a decision must have, and which it may have besides."""


def choices(allowed: object, *, editable: bool) -> tuple[Choice, ...]:
    """What may be chosen, in our order. Raises Malformed."""
    if not isinstance(allowed, list) or not allowed or not set(map(str, allowed)) <= set(CHOICES):
        raise Malformed(_("It does not say which decisions are allowed."))
    return tuple(
        each for key, each in CHOICES.items() if key in allowed and (editable or not each.changes)
    )


def default(action: Action, choice: Choice, text: str) -> Pick | None:
    """Approve and reject have a meaning of their own; to change or answer takes more."""
    del action
    if choice.key not in (APPROVE.key, REJECT.key):
        return None
    return Pick(choice=choice.key, text=text if choice.text else "")


def write(action: Action, pick: Pick) -> dict[str, object]:
    """The decision in LangChain's form."""
    if pick.choice == EDIT.key:
        changed = {"name": action.tool, "args": dict(pick.args or {})}
        return {"type": "edit", "edited_action": changed}
    message = {"message": pick.text} if pick.text or pick.choice == RESPOND.key else {}
    return {"type": pick.choice, **message}


def read(action: Action, given: object) -> Pick:
    """The pick that a decision in LangChain's form stands for. Raises BadReply."""
    kind = given.get("type") if isinstance(given, Mapping) else None
    if not isinstance(given, Mapping) or not isinstance(kind, str) or kind not in KEYS:
        raise BadReply(_("A decision is an object with a type: approve, edit, reject or respond."))
    _require_keys(given, *KEYS[kind])
    message = given.get("message", "")
    if not isinstance(message, str):
        raise BadReply(_("A message is text."))
    return Pick(choice=kind, text=message, args=_changed(action, given.get("edited_action")))


def _require_keys(given: Mapping[str, object], needed: Iterable[str], more: Iterable[str]) -> None:
    if not set(needed) <= given.keys() <= {*needed, *more}:
        raise BadReply(
            _(
                "A decision of type {given} has {value}.",
                given=given["type"],
                value=" and ".join(sorted(needed)),
            )
        )


def _changed(action: Action, edited: object) -> Mapping[str, object] | None:
    if edited is None:
        return None
    if not isinstance(edited, Mapping) or edited.keys() != {"name", "args"}:
        raise BadReply(_("An edited action has a name and args."))
    if edited["name"] != action.tool:
        raise BadReply(_("An edit may not switch to another tool."))
    if not isinstance(edited["args"], Mapping):
        raise BadReply(_("The arguments of an edited action are an object."))
    return edited["args"]
