"""A form for values that a JSON Schema describes: drawn by the server, read back with its types.

    form = building.make(schema, "answer", initial=value, posted=request.POST)
    value = form.read()           # ABSENT, or plain JSON; what is wrong stands at the fields
    form.root                     # templates/approvals/_input.html draws it

1. A control is named by its place in the schema, never by a name that an agent chose.
2. What a form cannot express becomes a field for JSON, checked by the same schema, never a text.
3. A blank control is no value. Where blank text is meant, the schema says so (`minLength: 0`).
4. A control that was not touched gives back its initial value itself, whatever its text looks like.
5. Without a script: lists have blank rows to spare, and a button that asks for more of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils import timezone

from accounts.speech import later as _
from approvals.jsonforms import leaves, schemas
from approvals.jsonforms.schemas import Problem, Schema

MOST_RADIOS = 4
ADD = "add"
"""Name of the buttons that ask for another row; the value is the list's name."""


class Absent:
    """No value."""


ABSENT = Absent()


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One of the values to choose from."""

    key: str
    label: str
    value: object


@dataclass(slots=True, kw_only=True)
class Field:
    """One control, or a group of them."""

    kind: str
    """text, long, email, date, moment, integer, number, boolean, choice, several, const, json,
    object, array or variant."""
    name: str
    label: str
    hint: str = ""
    required: bool = True
    nullable: bool = False
    blank: bool = False
    """Blank text is a value."""
    initial: object = ABSENT
    suggested: bool = False
    """The initial value is the schema's default, which nobody has asked for."""
    text: str = ""
    chosen: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    keys: tuple[str, ...] = ()
    """Of an object's children."""
    children: list[Field] = field(default_factory=list)
    more: bool = False
    """Another row can be asked for."""
    errors: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        return f"id_{self.name}"

    @property
    def describedby(self) -> str:
        """Ids of the hint and the errors, where there are some."""
        ids = (f"{self.id}_hint" * bool(self.help), f"{self.id}_errors" * bool(self.errors))
        return " ".join(filter(None, ids))

    @property
    def help(self) -> str:
        own = {
            "json": _('JSON, such as 12, true, null or "text".'),
            "moment": _("In the time zone {value}.", value=timezone.get_current_timezone_name()),
        }.get(self.kind, "")
        blank = _("May be left blank.") if self.required and self.nullable else ""
        return " ".join(map(str, filter(None, (self.hint, own, blank))))

    @property
    def radios(self) -> bool:
        return self.kind == "choice" and len(self.options) <= MOST_RADIOS

    @property
    def const(self) -> object:
        return self.options[0].value

    @property
    def cases(self) -> list[tuple[Option, Field, bool]]:
        """Of a variant: each alternative, its fields, and whether it is chosen."""
        if self.kind != "variant":
            return []
        return [
            (option, child, option.key in self.chosen)
            for option, child in zip(self.options, self.children, strict=True)
        ]

    @property
    def empty(self) -> bool:
        """Nothing was entered here."""
        if self.kind == "const":
            return True
        if self.kind == "object":
            return all(child.empty for child in self.children)
        if self.kind == "array":
            return all(child.empty for child in self.children)
        if self.kind in ("choice", "several", "variant"):
            return not self.chosen or (self.suggested and self.chosen == self.keys_of(self.initial))
        return not self.text.strip() or (self.suggested and self.untouched)

    @property
    def touched(self) -> bool:
        """Something here was entered or changed since the form was shown first."""
        if self.children and self.kind != "variant":
            return any(child.touched for child in self.children)
        if self.kind in ("choice", "several", "variant"):
            before = () if self.initial is ABSENT else self.keys_of(self.initial)
            return self.chosen != before or any(
                child.touched for _, child, chosen in self.cases if chosen
            )
        if self.kind == "const" or self.kind == "array":
            return False
        return not self.untouched if self.initial is not ABSENT else bool(self.text.strip())

    @property
    def entered(self) -> str:
        """What was typed here, or the names of what was chosen; empty where others are within."""
        if self.kind in ("choice", "several", "variant"):
            return ", ".join(each.label for each in self.options if each.key in self.chosen)
        return "" if self.children else self.text

    @property
    def untouched(self) -> bool:
        """The control stands as it was shown first."""
        return self.initial is not ABSENT and leaves.same(self.kind, self.text, self.initial)

    def keys_of(self, value: object) -> tuple[str, ...]:
        """The keys of the options that `value` stands for."""
        held = value if self.kind == "several" and isinstance(value, list) else [value]
        if self.kind == "variant":
            return tuple(
                option.key
                for option, child in zip(self.options, self.children, strict=True)
                if child.initial is not ABSENT
            )
        return tuple(each.key for each in self.options for one in held if equal(each.value, one))


@dataclass(slots=True, kw_only=True)
class Form:
    """All fields for one value."""

    schema: Schema
    root: Field
    places: dict[tuple[str | int, ...], Field] = field(default_factory=dict)

    @property
    def everything(self) -> list[Field]:
        return list(_all(self.root))

    @property
    def wrong(self) -> bool:
        return any(each.errors for each in _all(self.root))

    def read(self) -> object:
        """The value that was entered, checked; ABSENT if none was. Notes errors at their fields."""
        value = _Reader(places=self.places).read(self.root, ())
        if not self.wrong and value is not ABSENT:
            for problem in schemas.problems(self.schema, value):
                self.note(problem)
        return value

    def note(self, problem: Problem) -> None:
        """Put the problem at the field that it is about, or at the nearest around it."""
        path = problem.path
        while path and path not in self.places:
            path = path[:-1]
        held = self.places.get(path, self.root)
        message = problem.message if path == problem.path else problem.sentence
        if message not in held.errors:
            held.errors.append(message)


def _all(one: Field) -> Iterator[Field]:
    yield one
    for child in one.children:
        yield from _all(child)


def equal(one: object, other: object) -> bool:
    """As JSON: true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


# --- reading --------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class _Reader:
    places: dict[tuple[str | int, ...], Field]

    def read(self, one: Field, path: tuple[str | int, ...]) -> object:
        self.places[path] = one
        match one.kind:
            case "const":
                return one.const
            case "object":
                return self._object(one, path)
            case "array":
                return self._array(one, path)
            case "variant":
                return self._variant(one, path)
            case "choice":
                return self._choice(one)
            case "several":
                return self._several(one)
        return self._leaf(one)

    def _leaf(self, one: Field) -> object:
        if one.untouched and (one.text or one.initial is None or one.blank):
            return one.initial
        if not one.text.strip():
            return "" if one.blank and one.required else self._none(one)
        try:
            return leaves.read(one.kind, one.text)
        except leaves.Wrong as wrong:
            one.errors.append(str(wrong))
            return ABSENT

    def _none(self, one: Field) -> object:
        if not one.required:
            return ABSENT
        if one.nullable:
            return None
        one.errors.append(_("This is required."))
        return ABSENT

    def _choice(self, one: Field) -> object:
        for option in one.options:
            if option.key in one.chosen:
                return option.value
        return self._none(one)

    def _several(self, one: Field) -> object:
        found = [option.value for option in one.options if option.key in one.chosen]
        return found if found or one.required else ABSENT

    def _object(self, one: Field, path: tuple[str | int, ...]) -> object:
        if one.empty and not one.required:
            return ABSENT
        if one.empty and one.nullable and path:
            return None
        found = {}
        for key, child in zip(one.keys, one.children, strict=True):
            value = self.read(child, (*path, key))
            if value is not ABSENT:
                found[key] = value
        return found

    def _array(self, one: Field, path: tuple[str | int, ...]) -> object:
        found: list[object] = []
        for child in one.children:
            if not child.empty:
                value = self.read(child, (*path, len(found)))
                found.append(None if value is ABSENT else value)
        return found if found or one.required else ABSENT

    def _variant(self, one: Field, path: tuple[str | int, ...]) -> object:
        for _option, child, chosen in one.cases:
            if chosen:
                value = self.read(child, path)
                self.places[path] = child
                return {} if value is ABSENT else value
        return self._none(one)
