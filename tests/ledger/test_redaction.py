"""What is never stored in clear, and arguments that are passed by reference."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from ledger import checks, errors, redaction, refusals, secrets
from ledger.models import Idempotency, Look
from ledger.outcomes import Found, Outcome
from ledger.tools import Effectful, effect
from tests.ledger.conftest import dying_at, effect_of, outcomes_of, take_over
from tests.ledger.provider import Provider, http, raises, returns

IBAN = "DE02120300000000202051"
REFERENCE = "secret:supplier-7"


@pytest.fixture
def pay(world: Provider) -> Effectful:
    def pay(iban: str, note: str = "", *, idempotency_key: str) -> object:
        return world.call(idempotency_key, iban, note=note)

    return effect("t.pay", idempotency=Idempotency.LEDGER, redact={"iban", "token"})(pay)


@pytest.fixture
def vault(settings, tmp_path: Path) -> Path:
    settings.LEDGER_SECRETS_DIR = str(tmp_path)
    (tmp_path / "t.pay").mkdir()
    (tmp_path / "t.pay" / "supplier-7").write_text(f"{IBAN}\n")
    return tmp_path / "t.pay"


def everything_stored() -> str:
    """Every row that the ledger and the audit log have, as text."""
    tables = ("effects", "ledger_effectattempt", "ledger_look", "ledger_incident", "audit_entry")
    with connection.cursor() as cursor:
        rows: list[str] = []
        for table in tables:
            cursor.execute(f"SELECT row_to_json(t)::text FROM {table} t")  # noqa: S608 (ours)
            rows += [row[0] for row in cursor.fetchall()]
    assert rows
    return "\n".join(rows)


def test_a_field_of_a_result_is_not_stored_and_the_node_gets_what_is_stored(
    pay, vault, world, driver, run
):
    answer = {"id": "re_1", "token": "tok_9", "deep": [{"iban": IBAN, "city": "Ulm"}]}
    world.says = [http(200, answer)]
    told = driver(lambda: pay(REFERENCE))
    kept = {"id": "re_1", "token": "redacted", "deep": [{"iban": "redacted", "city": "Ulm"}]}
    assert told == take_over(run)(lambda: pay(REFERENCE)) == kept
    assert effect_of(run).calls.get().response == kept
    assert "tok_9" not in everything_stored()


def test_a_secret_is_sent_and_stored_nowhere(pay, vault, world, driver, run):
    world.says = [http(200, {"id": "re_1", "said": f"paid to {IBAN}"})]
    driver(lambda: pay(REFERENCE, note="secret:supplier-7"))
    assert world.seen == [{"order": IBAN, "note": "secret:supplier-7"}]  # only where it is declared
    assert effect_of(run).args == {"iban": REFERENCE, "note": "secret:supplier-7"}
    assert effect_of(run).result == {"id": "re_1", "said": "paid to redacted"}
    assert IBAN not in everything_stored()


@pytest.mark.parametrize(
    "say",
    [
        http(422, {"iban": "DE00000000", "message": f"{IBAN} is closed"}),
        raises(ValueError(f"cannot pay {IBAN}: {{'token': 'tok_9'}}")),
        returns(Outcome.unknown(f'{{"token": "tok_9", "iban": "{IBAN}"')),
    ],
)
def test_words_of_an_error_do_not_repeat_it(pay, vault, world, driver, run, say):
    world.says = [say]
    with pytest.raises((errors.EffectFailed, refusals.EffectInDoubt)) as told:
        driver(lambda: pay(REFERENCE))
    for hidden in (IBAN, "DE00000000", "tok_9"):
        assert hidden not in everything_stored()
        assert hidden not in str(told.value)


def test_what_a_look_up_says_is_redacted_too(world, driver, run):
    def find(key: str) -> Found:
        if len(world.asked) == 0:
            world.asked.append(key)
            raise ValueError("{'iban': 'DE00000000'}")
        return Found(reference="re_1", result={"iban": IBAN, "id": "re_1"})

    def ask(order: str, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, order)

    tool = effect("t.ask", idempotency=Idempotency.LOOKUP, lookup=find, redact=["iban"])(ask)
    world.says = [world.happens_unheard()]
    assert driver(lambda: tool("7")) == {"iban": "redacted", "id": "re_1"}
    assert Look.objects.count() == 2
    for hidden in (IBAN, "DE00000000"):
        assert hidden not in everything_stored()


@pytest.mark.parametrize("value", [IBAN, 7, ["x"]])
def test_an_argument_in_clear_is_refused_before_anything_is_stored(
    pay, vault, world, driver, run, value
):
    with pytest.raises(errors.BadArguments, match="reference"):
        driver(lambda: pay(value))
    with pytest.raises(errors.BadArguments, match="'token'"):
        pay.describe(REFERENCE, note={"deep": [{"token": "tok_9"}]})
    assert world.calls == []
    assert not run.effects.exists()


def test_a_call_that_is_made_again_sends_the_same_bytes(vault, world, driver, run):
    def pay(iban: str, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, iban)

    hour = timedelta(hours=1)
    tool = effect("t.pay", idempotency=Idempotency.PROVIDER, window=hour, redact={"iban"})(pay)
    with dying_at("effect.called"):
        driver(lambda: tool(REFERENCE))
    take_over(run)(lambda: tool(REFERENCE))
    assert world.seen == [{"order": IBAN}] * 2
    assert len(world.happened) == 1


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("secret:nobody", "no secret 'nobody'"),
        ("secret:../t.other/x", "name of a secret"),
        ("secret:", "name of a secret"),
    ],
)
def test_a_secret_that_cannot_be_had_sends_nothing_and_fails_in_the_end(
    pay, vault, world, driver, run, reference, why
):
    with pytest.raises(errors.EffectFailed, match="nothing was sent") as told:
        driver(lambda: pay(reference))
    assert why in str(told.value)
    assert world.calls == []
    assert outcomes_of(effect_of(run)) == ["retryable"] * 3


def test_without_a_place_for_secrets_the_message_says_what_to_set(settings):
    settings.LEDGER_SECRETS_DIR = ""
    with pytest.raises(errors.SecretMissing, match="LEDGER_SECRETS_DIR"):
        secrets.Files().get("t.pay", "x")


def test_another_source_of_secrets_can_be_named_and_is_checked(
    settings, pay, world, driver, monkeypatch
):
    settings.LEDGER_SECRETS = "tests.ledger.test_redaction.Nothing"
    assert [problem.id for problem in checks.ports_fit()] == ["ledger.E006"]
    monkeypatch.setattr(secrets.Files, "get", lambda self, tool, name: f"{tool}/{name}")
    settings.LEDGER_SECRETS = "ledger.secrets.Files"
    assert checks.ports_fit() == []
    driver(lambda: pay(REFERENCE))
    assert world.seen[0]["order"] == "t.pay/supplier-7"


class Nothing:
    """No source of secrets."""


@pytest.mark.parametrize("redact", ["iban", [1], [""]])
def test_a_declaration_names_fields(redact):
    with pytest.raises(errors.NotAnEffect, match="names of fields"):
        effect("t.bad", idempotency=Idempotency.LEDGER, redact=redact)(print)


def test_arguments_have_a_limit_and_nothing_is_sent_beyond_it(settings, pay, vault, world, driver):
    settings.LEDGER_ARGS_LIMIT = 2000
    driver(lambda: pay(REFERENCE, "x" * 1900))
    with pytest.raises(errors.BadArguments, match="more than 2000 are not kept"):
        driver(lambda: pay(REFERENCE, "é" * 1000))
    assert len(world.calls) == 1


def test_limits_below_a_kilobyte_are_refused_at_the_start(settings):
    settings.LEDGER_ARGS_LIMIT = 10
    assert [problem.id for problem in checks.settings_fit()] == ["ledger.E004"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"iban": "x\\"y", "b": 1}', '{"iban": "redacted", "b": 1}'),
        ('{"iban":42}', '{"iban":"redacted"}'),
        ('HTTP 422: {"iban": "DE021203', 'HTTP 422: {"iban": "redacted"'),
        ("{'iban': 'x'}", "{'iban': \"redacted\"}"),
        ("the iban is wrong", "the iban is wrong"),
    ],
)
def test_texts_are_redacted_where_they_read_as_json(text: str, left: str) -> None:
    assert redaction.in_text(text, {"iban"}) == left


def test_a_value_that_is_not_there_stays_and_everything_else_goes() -> None:
    value: Any = {"iban": None, "a": {"iban": {"deep": 1}}, "ibans": 1}
    assert redaction.of(value, {"iban"}) == {"iban": None, "a": {"iban": "redacted"}, "ibans": 1}
    assert redaction.of(value, ()) is value
    assert redaction.everywhere({"a": [IBAN, 1]}, {IBAN, "no"}) == {"a": ["redacted", 1]}
