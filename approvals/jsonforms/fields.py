"""A form for values that a JSON Schema describes: drawn by the server, read back with its types.

    form = fields.make(schema, "answer", initial=value, posted=request.POST)
    value = form.read()           # ABSENT, or plain JSON; what is wrong stands at the fields
    form.root                     # templates/approvals/_input.html draws it

1. A control is named by its place in the schema, never by a name that an agent chose.
2. What a form cannot express becomes a field for JSON, checked by the same schema, never a text.
3. A blank control is no value. Where blank text is meant, the schema says so (`minLength: 0`).
4. A control that was not touched gives back its initial value itself, whatever its text looks like.
5. Without a script: lists have blank rows to spare, and a button that asks for more of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict
from django.utils import timezone

from approvals.jsonforms import leaves, schemas
from approvals.jsonforms.schemas import Problem, Schema

DEEPEST = 6
MOST_FIELDS = 150
SPARE_ROWS = 2
MOST_ROWS = 50
MOST_RADIOS = 4
LONG_TEXT = 80
"""Characters from which a text gets a box of several lines."""
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
            "json": 'JSON, such as 12, true, null or "text".',
            "moment": f"In the time zone {timezone.get_current_timezone_name()}.",
        }.get(self.kind, "")
        return " ".join(filter(None, (self.hint, own)))

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
        return tuple(each.key for each in self.options for one in held if _equal(each.value, one))


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


def make(
    schema: Schema,
    name: str,
    *,
    label: str = "",
    initial: object = ABSENT,
    posted: QueryDict | None = None,
) -> Form:
    """The form for values of `schema`, whose controls' names begin with `name`.

    `posted` is what a browser sent, if it did; it stands in the controls again.
    """
    builder = _Builder(root=schema, posted=posted)
    return Form(
        schema=schema,
        root=builder.field(schema, name, label=label, required=True, initial=initial),
    )


def _all(one: Field) -> Iterator[Field]:
    yield one
    for child in one.children:
        yield from _all(child)


def _equal(one: object, other: object) -> bool:
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
        one.errors.append("This is required.")
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
        for _, child, chosen in one.cases:
            if chosen:
                value = self.read(child, path)
                self.places[path] = child
                return {} if value is ABSENT else value
        return self._none(one)


# --- building -------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class _Builder:
    root: Schema
    posted: QueryDict | None
    left: int = MOST_FIELDS

    def field(  # noqa: PLR0913 (what tells one place in a form from another)
        self,
        given: object,
        name: str,
        *,
        label: str = "",
        required: bool = True,
        initial: object = ABSENT,
        depth: int = 0,
    ) -> Field:
        self.left -= 1
        schema, nullable = self._resolved(given)
        kind = self._kind(schema) if depth < DEEPEST and self.left > 0 else "json"
        suggested = initial is ABSENT and "default" in schema
        one = Field(
            kind=kind,
            name=name,
            label=label or _words(schema.get("title")),
            hint=_words(schema.get("description")),
            required=required,
            nullable=nullable,
            blank=_allows_blank(schema),
            initial=schema["default"] if suggested else initial,
            suggested=suggested,
        )
        if one.initial is not ABSENT and not _fits(one, schema):
            one.kind = "json"  # a form of this kind would lose what it is to begin with
        self._fill(one, schema, depth)
        return one

    def _fill(self, one: Field, schema: Schema, depth: int) -> None:
        match one.kind:
            case "const":
                one.options = (_option(0, schema["const"]),)
            case "choice":
                one.options = tuple(_option(n, each) for n, each in enumerate(schema["enum"]))
                one.chosen = self._chosen(one)
            case "several":
                items, _ = self._resolved(schema["items"])
                one.options = tuple(_option(n, each) for n, each in enumerate(items["enum"]))
                one.chosen = self._chosen(one)
            case "object":
                self._object(one, schema, depth)
            case "array":
                self._array(one, schema, depth)
            case "variant":
                self._variant(one, schema, depth)
            case _:
                one.text = self._text(one)
                if one.kind == "text" and _is_long(one.text, schema):
                    one.kind = "long"

    def _text(self, one: Field) -> str:
        if self.posted is not None:
            return str(self.posted.get(one.name, ""))
        return "" if one.initial is ABSENT else leaves.shown(one.kind, one.initial)

    def _chosen(self, one: Field) -> tuple[str, ...]:
        if self.posted is not None:
            return tuple(map(str, self.posted.getlist(one.name)))
        return () if one.initial is ABSENT else one.keys_of(one.initial)

    def _object(self, one: Field, schema: Schema, depth: int) -> None:
        wanted = schema.get("required", [])
        held = one.initial if isinstance(one.initial, dict) else {}
        one.keys = tuple(schema["properties"])
        for number, (key, inner) in enumerate(schema["properties"].items()):
            child = self.field(
                inner,
                f"{one.name}.{number}",
                required=key in wanted,
                initial=held.get(key, ABSENT),
                depth=depth + 1,
            )
            child.label = child.label or _title(key)
            child.suggested = child.suggested or (one.suggested and child.initial is not ABSENT)
            one.children.append(child)

    def _array(self, one: Field, schema: Schema, depth: int) -> None:
        held = one.initial if isinstance(one.initial, list) else []
        most = schema.get("maxItems")
        most = min(most, MOST_ROWS) if isinstance(most, int) else MOST_ROWS
        rows = min(self._rows(one, len(held), schema.get("minItems")), max(most, len(held)))
        for number in range(rows):
            child = self.field(
                schema["items"],
                f"{one.name}.{number}",
                label=f"{number + 1}",
                initial=held[number] if number < len(held) else ABSENT,
                depth=depth + 1,
            )
            child.suggested = child.suggested or (one.suggested and child.initial is not ABSENT)
            one.children.append(child)
        one.more = rows < most

    def _rows(self, one: Field, held: int, least: object) -> int:
        """How many rows are shown: those in use, and some to spare."""
        least = least if isinstance(least, int) else 0
        if self.posted is None:
            return max(held + 1, least, SPARE_ROWS)
        sent = str(self.posted.get(f"{one.name}.rows", ""))
        rows = min(int(sent), MOST_ROWS) if sent.isascii() and sent.isdecimal() else 0
        return rows + (self.posted.get(ADD) == one.name)

    def _variant(self, one: Field, schema: Schema, depth: int) -> None:
        key, branches = _branches(schema, self._resolved) or ("", [])
        held = one.initial.get(key, ABSENT) if isinstance(one.initial, dict) else ABSENT
        options = []
        for number, branch in enumerate(branches):
            value = _only(branch["properties"][key], self._resolved)
            label = _words(branch.get("title")) or _title(str(value))
            options.append(Option(key=str(number), label=label, value=value))
            child = self.field(
                branch,
                f"{one.name}.{number}",
                label=label,
                initial=one.initial if _equal(held, value) else ABSENT,
                depth=depth + 1,
            )
            one.children.append(child)
        one.options = tuple(options)
        if self.posted is not None:
            one.chosen = (str(self.posted.get(one.name, "")),)
        elif held is not ABSENT:
            one.chosen = tuple(each.key for each in options if _equal(each.value, held))

    # --- what a schema is ---

    def _resolved(self, given: object) -> tuple[Schema, bool]:
        """The schema behind references, and whether null is allowed besides."""
        schema: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {"?": given}
        nullable = False
        for _ in range(20):
            if "$ref" in schema:
                target = self._target(schema.pop("$ref"))
                schema = {**target, **schema}
            elif isinstance(schema.get("allOf"), list) and len(schema["allOf"]) == 1:
                inner = schema.pop("allOf")[0]
                schema = {**(inner if isinstance(inner, Mapping) else {"?": inner}), **schema}
            elif (rest := _without_null(schema)) is not None:
                schema, nullable = rest, True
            else:
                return schema, nullable
        return {"?": "references without an end"}, nullable

    def _target(self, reference: object) -> Mapping[str, Any]:
        found: object = self.root
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return {"?": reference}
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else {"?": reference}

    def _kind(self, schema: Schema) -> str:
        if "?" in schema or "$dynamicRef" in schema or "patternProperties" in schema:
            return "json"
        if "const" in schema:
            return "const"
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return "choice"
        if "oneOf" in schema or "anyOf" in schema:
            return "variant" if _branches(schema, self._resolved) else "json"
        if "allOf" in schema or "prefixItems" in schema:
            return "json"
        kind = schema.get("type")
        if kind == "object" or (kind is None and "properties" in schema):
            return "object" if _is_closed_enough(schema) else "json"
        if kind == "array":
            return self._kind_of_list(schema)
        if kind == "string":
            formats = {"email": "email", "date": "date", "date-time": "moment"}
            return formats.get(str(schema.get("format")), "text")
        return kind if kind in ("integer", "number", "boolean") else "json"

    def _kind_of_list(self, schema: Schema) -> str:
        if not isinstance(schema.get("items"), Mapping):
            return "json"
        items, nullable = self._resolved(schema["items"])
        if nullable:
            return "json"
        if schema.get("uniqueItems") is True and isinstance(items.get("enum"), list):
            return "several"
        return "json" if self._kind(items) in ("array", "json", "const") else "array"


def _without_null(schema: Schema) -> dict[str, Any] | None:
    """The same schema without the null that it allows besides; None if it allows none."""
    kind = schema.get("type")
    if isinstance(kind, list) and len(kind) == 2 and "null" in kind:
        return {**schema, "type": next(each for each in kind if each != "null")}
    for word in ("anyOf", "oneOf"):
        branches = schema.get(word)
        if isinstance(branches, list) and {"type": "null"} in branches:
            rest = [branch for branch in branches if branch != {"type": "null"}]
            kept = {key: value for key, value in schema.items() if key != word}
            if len(rest) == 1 and isinstance(rest[0], Mapping):
                return {**rest[0], **kept}
            return {**kept, word: rest} if rest else None
    return None


def _branches(schema: Schema, resolved: Any) -> tuple[str, list[Schema]] | None:
    """The property that tells the alternatives apart, and those; None if nothing does."""
    given = schema.get("oneOf") or schema.get("anyOf")
    if not isinstance(given, list) or "properties" in schema:
        return None
    branches = [resolved(each)[0] for each in given]
    if not all(isinstance(each.get("properties"), Mapping) for each in branches):
        return None
    declared = schema.get("discriminator")
    named = declared.get("propertyName") if isinstance(declared, Mapping) else None
    for key in [named] if named else list(branches[0]["properties"]):
        values = [_only(each["properties"].get(key), resolved) for each in branches]
        distinct = all(
            not _equal(one, other) for n, one in enumerate(values) for other in values[:n]
        )
        if ABSENT not in values and distinct:
            return str(key), branches
    return None


def _only(schema: object, resolved: Any) -> object:
    """The one value that `schema` allows; ABSENT if it allows others."""
    if not isinstance(schema, Mapping):
        return ABSENT
    found, nullable = resolved(schema)
    if nullable:
        return ABSENT
    if "const" in found:
        return found["const"]
    enum = found.get("enum")
    return enum[0] if isinstance(enum, list) and len(enum) == 1 else ABSENT


def _is_closed_enough(schema: Schema) -> bool:
    """Whether all fields of the object are named, so that a form has a place for each."""
    return (
        isinstance(schema.get("properties"), Mapping)
        and bool(schema["properties"])
        and not isinstance(schema.get("additionalProperties"), Mapping)
    )


def _fits(one: Field, schema: Schema) -> bool:
    """Whether a control of this kind can show the initial value without changing it."""
    value = one.initial
    if value is None:
        return one.nullable or one.kind in ("json", "const")
    types: dict[str, type | tuple[type, ...]] = {
        "object": dict,
        "variant": dict,
        "array": list,
        "several": list,
        "boolean": bool,
        "integer": int,
        "number": (int, float),
    }
    if one.kind in ("json", "const"):
        return True
    if one.kind == "choice":
        return any(_equal(each, value) for each in schema["enum"])
    if one.kind != "boolean" and isinstance(value, bool):
        return False
    if one.kind == "object" and isinstance(value, dict):
        return set(value) <= set(schema["properties"])
    return isinstance(value, types.get(one.kind, str))


def _allows_blank(schema: Schema) -> bool:
    blank = schema.get("minLength") == 0 or schema.get("default") == ""
    return schema.get("type") == "string" and bool(blank)


def _is_long(text: str, schema: Schema) -> bool:
    most = schema.get("maxLength")
    return "\n" in text or len(text) > LONG_TEXT or (isinstance(most, int) and most > 3 * LONG_TEXT)


def _option(number: int, value: object) -> Option:
    label = value if isinstance(value, str) and value else leaves.shown("json", value)
    return Option(key=str(number), label=label, value=value)


def _words(text: object) -> str:
    return text.strip() if isinstance(text, str) else ""


def _title(name: str) -> str:
    """`order_id` as a label."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:] or name
