"""What the review page sends for the actions of a question, and what it shows again.

    form = reply_forms.make(shape, actions, posted=request.POST)
    reply = form.read("approve")      # None: what is wrong stands at the parts

1. The names of all controls begin with the token of their action, so that a form fits one question.
2. What was typed for one choice is not dropped because the button of another was pressed: the page
   comes back and asks which was meant.
3. A control that nobody touched sends its value back with the type that it had.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.http import QueryDict

from accounts.speech import later as _
from approvals import errors, shapes
from approvals.jsonforms import building, fields
from approvals.jsonforms.fields import ABSENT
from approvals.jsonforms.schemas import Problem
from approvals.shapes import Action, Choice, Pick, edits
from approvals.status import Verdict

SEND = "send"
"""The button of a question with several actions, each of which has its own choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What `decisions.decide` gets."""

    verdict: Verdict
    value: object = None
    args: Mapping[str, object] | None = None


@dataclass(slots=True, kw_only=True)
class Way:
    """One choice for an action, with the controls that belong to it."""

    choice: Choice
    name: str
    """Of the control for its text."""
    text: str = ""
    chosen: bool = False
    form: fields.Form | None = None
    errors: list[str] = field(default_factory=list)

    @property
    def touched(self) -> bool:
        return bool(self.text.strip()) or bool(self.form and self.form.root.touched)

    @property
    def wrong(self) -> bool:
        return bool(self.errors) or bool(self.form and self.form.wrong)

    @property
    def entered(self) -> list[tuple[str, str]]:
        """What was typed or chosen here, by label."""
        found = [(self.choice.label, self.text)] if self.text.strip() else []
        leaves = self.form.everything if self.form else []
        return found + [
            (each.label or _("Value"), each.entered)
            for each in leaves
            if each.touched and each.entered
        ]

    @property
    def faults(self) -> list[str]:
        """The labels of the fields with errors; "text" for what is not one of them."""
        fields_of = self.form.everything if self.form else []
        named = [each.label or "value" for each in fields_of if each.errors]
        return named + ["text"] * bool(self.errors)

    @property
    def open(self) -> bool:
        """Worth being seen at once."""
        return self.touched or self.wrong or self.chosen


@dataclass(slots=True, kw_only=True)
class Part:
    """One action with the ways to decide it."""

    action: Action
    ways: list[Way]
    errors: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.action.token

    @property
    def wrong(self) -> bool:
        return bool(self.errors) or any(way.wrong for way in self.ways)

    def way(self, key: str) -> Way | None:
        return next((way for way in self.ways if way.choice.key == key), None)


@dataclass(slots=True, kw_only=True)
class ReplyForm:
    """All actions of one question."""

    shape: str
    parts: list[Part]

    @property
    def several(self) -> bool:
        return len(self.parts) > 1

    @property
    def wrong(self) -> bool:
        return any(part.wrong for part in self.parts)

    @property
    def faults(self) -> dict[str, list[str]]:
        """Where something is wrong, by the choice that it belongs to: never what was entered."""
        found: dict[str, list[str]] = {}
        for part in self.parts:
            if part.errors:
                found.setdefault("choice", []).append("invalid")
            for way in part.ways:
                if way.wrong:
                    found.setdefault(way.choice.key, []).extend(way.faults)
        return found

    @property
    def entered(self) -> list[tuple[str, str]]:
        """What was typed or chosen, by label."""
        return [
            (f"{part.action.tool}: {label}" if self.several and part.action.tool else label, text)
            for part in self.parts
            for way in part.ways
            for label, text in way.entered
        ]

    @property
    def answers(self) -> bool:
        """A value is asked for, and nothing else."""
        ways = [way for part in self.parts for way in part.ways]
        return bool(ways) and all(way.choice.answers for way in ways)

    def pressed(self, verdict: str) -> str:
        """The choice behind a button that says no more than a verdict; empty if there is none."""
        way = self._bare(verdict)
        return way.choice.key if way else ""

    def label(self, verdict: str) -> str:
        """The words on that button."""
        way = self._bare(verdict)
        return way.choice.label if way else ""

    def _bare(self, verdict: str) -> Way | None:
        refuses = verdict == Verdict.REJECTED
        ways = (way for part in self.parts for way in part.ways)
        return next((way for way in ways if way.choice.refuses is refuses and not _more(way)), None)

    def read(self, pressed: str) -> Reply | None:
        """The reply; None if something is wrong, which then stands at its place.

        `pressed` is the choice whose button was pressed, or SEND.
        """
        picks: dict[str, Pick] = {}
        for part in self.parts:
            key = _chosen(part) if self.several else pressed
            pick = self._pick(part, key)
            if pick is not None:
                picks[part.name] = pick
        if self.wrong or len(picks) < len(self.parts):
            return None
        return self._reply(picks)

    def _pick(self, part: Part, key: str) -> Pick | None:
        way = part.way(key)
        if way is None:
            part.errors.append(_("Choose what is to be done with this."))
            return None
        # In a list of several the fields of what was not chosen are folded away, and do not count.
        others = [] if self.several else [each for each in part.ways if each is not way]
        lost = [each for each in others if each.touched]
        if lost and not way.choice.refuses:
            lost[0].errors.append(
                _(
                    "You filled this in, but pressed “{label}”. Press “{label2}” instead, or"
                    " put this back as it was.",
                    label=way.choice.label,
                    label2=lost[0].choice.label,
                )
            )
            return None
        return self._filled(part, way)

    def _filled(self, part: Part, way: Way) -> Pick | None:
        choice = way.choice
        if choice.text_needed and not way.text.strip():
            way.errors.append(_("This is required."))
            return None
        if way.form is None:
            return Pick(choice=choice.key, text=_lines(way.text))
        value = way.form.read()
        if way.form.wrong:
            return None
        if choice.answers:
            if value is ABSENT:
                way.form.root.errors.append(_("This is required."))
                return None
            return Pick(choice=choice.key, value=value)
        changed = value if isinstance(value, Mapping) else {}
        args = edits.merged(part.action.args, changed, way.form.schema)
        return Pick(choice=choice.key, args=args)

    def _reply(self, picks: Mapping[str, Pick]) -> Reply:
        refused = [
            bool(way and way.choice.refuses)
            for way in (part.way(picks[part.name].choice) for part in self.parts)
        ]
        verdict = Verdict.REJECTED if all(refused) else Verdict.APPROVED
        first = picks[self.parts[0].name]
        if self.shape == shapes.Shape.OURS:
            return Reply(verdict=verdict, args=first.args)
        if not self.several and first == Pick(choice=first.choice):
            return Reply(verdict=verdict)  # the verdict says it all
        actions = tuple(part.action for part in self.parts)
        return Reply(verdict=verdict, value=shapes.write(self.shape, actions, picks))

    def note(self, refusal: errors.BadValue) -> bool:
        """Put what the decision refused where it belongs; False if it belongs to the whole."""
        for part in self.parts:
            for problem in refusal.problems.get(part.name, ()):
                self._note(part, problem)
        return bool(refusal.problems)

    def _note(self, part: Part, problem: Problem) -> None:
        path = problem.path
        if path[:2] == ("edited_action", "args"):  # where a decision of LangChain's has them
            path = path[2:]
        for way in part.ways:
            if way.form is not None and way.form.places:
                way.form.note(Problem(path=path, message=problem.message))
                return
        part.errors.append(problem.sentence)


def make(
    shape: str,
    actions: tuple[Action, ...],
    *,
    posted: QueryDict | None = None,
    before: Mapping[str, Pick] | None = None,
) -> ReplyForm:
    """The form for a question. `before`: picks of somebody else, to start from."""
    return ReplyForm(
        shape=shape,
        parts=[_part(action, posted, (before or {}).get(action.token)) for action in actions],
    )


def _part(action: Action, posted: QueryDict | None, before: Pick | None) -> Part:
    chosen = before.choice if before else ""
    if posted is not None:
        chosen = str(posted.get(action.token, ""))
    return Part(
        action=action,
        ways=[_way(action, choice, posted, before, chosen) for choice in action.choices],
    )


def _way(
    action: Action, choice: Choice, posted: QueryDict | None, before: Pick | None, chosen: str
) -> Way:
    name = f"{action.token}.{choice.key}"
    mine = before if before and before.choice == choice.key else None
    return Way(
        choice=choice,
        name=name,
        text=str(posted.get(name, "")) if posted is not None else (mine.text if mine else ""),
        chosen=chosen == choice.key,
        form=_form(action, choice, posted, mine),
    )


def _form(
    action: Action, choice: Choice, posted: QueryDict | None, before: Pick | None
) -> fields.Form | None:
    if action.schema is None or not (choice.changes or choice.answers):
        return None
    initial: object = before.value if before and choice.answers else ABSENT
    if choice.changes:
        args = action.args if before is None else before.args
        initial = edits.part(args, action.schema)
    return building.make(action.schema, f"{action.token}.v", initial=initial, posted=posted)


def _chosen(part: Part) -> str:
    return next((way.choice.key for way in part.ways if way.chosen), "")


def _more(way: Way) -> bool:
    """This choice takes more than a button."""
    return way.choice.text_needed or way.choice.changes or way.choice.answers


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")
