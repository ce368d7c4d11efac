"""Building a form: from a JSON Schema and perhaps what was posted to its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from approvals.jsonforms import leaves
from approvals.jsonforms.fields import ABSENT, ADD, Field, Form, Option, equal
from approvals.jsonforms.schemas import Schema

DEEPEST = 6
MOST_FIELDS = 150
SPARE_ROWS = 2
MOST_ROWS = 50
LONG_TEXT = 80
"""Characters from which a text gets a box of several lines."""


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
                initial=one.initial if equal(held, value) else ABSENT,
                depth=depth + 1,
            )
            one.children.append(child)
        one.options = tuple(options)
        if self.posted is not None:
            one.chosen = (str(self.posted.get(one.name, "")),)
        elif held is not ABSENT:
            one.chosen = tuple(each.key for each in options if equal(each.value, held))

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
            not equal(one, other) for n, one in enumerate(values) for other in values[:n]
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
        return any(equal(each, value) for each in schema["enum"])
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
