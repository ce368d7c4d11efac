"""Approvers see the runs in which their groups were asked, and nothing of any other."""

from __future__ import annotations

import pytest
from django.urls import reverse

from ledger.models import Effect
from runs.models import Run
from tests.support.people import person
from tests.support.web import text_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def two(asked) -> tuple[Run, Run]:
    """One run that asked finance and one that asked others, each with an effect in doubt."""
    theirs = asked().run
    other = Run.objects.get(pk=asked().run_id)
    other.requests.update(groups=["legal"])
    for run, title in ((theirs, "Refund of finance"), (other, "Somebody else's run")):
        Run.objects.filter(pk=run.pk).update(title=title)
        Effect.objects.create(
            idempotency_key=f"key of {title}",
            run=run,
            tool="payments.refund",
            idempotency="ledger",
            args={},
            args_hash="x",
            status="in_doubt",
            fence=1,
        )
    return theirs, other


def addresses(run: Run) -> list[str]:
    effect = Effect.objects.get(run=run)
    tabs = ("effects", "approvals", "state", "audit")
    return [
        reverse("runs:run", args=[run.pk]),
        *(f"{reverse('runs:run', args=[run.pk])}{tab}/" for tab in tabs),
        reverse("ledger:effect", args=[effect.uid]),
    ]


def test_an_approver_sees_the_runs_of_their_groups_only(two, ben, client) -> None:
    theirs, other = two
    client.force_login(ben)
    for page in ("runs:list", "ledger:list", "overview", "runs:workers"):
        assert "Somebody else" not in text_of(client.get(reverse(page))), page
    assert "Refund of finance" in text_of(client.get(reverse("runs:list")))
    assert "Refund of finance" in text_of(client.get(reverse("ledger:list")))
    for address in addresses(theirs)[:3]:
        assert client.get(address).status_code == 200, address
    for address in addresses(other):
        assert client.get(address).status_code in (403, 404), address


def test_numbers_count_what_the_reader_may_see(two, ben, client) -> None:
    client.force_login(ben)
    assert "1 Effects in doubt" in text_of(client.get(reverse("overview"))).replace("  ", " ") or (
        "Effects in doubt 1" in text_of(client.get(reverse("overview")))
    )
    client.force_login(person("Olga", "operator"))
    text = text_of(client.get(reverse("overview")))
    assert "2 Effects in doubt" in text or "Effects in doubt 2" in text


@pytest.mark.parametrize("group", ["operator", "auditor", "admin"])
def test_operators_auditors_and_admins_see_every_run(two, client, group) -> None:
    client.force_login(person("Olga", group))
    text = text_of(client.get(reverse("runs:list")))
    assert "Somebody else" in text
    assert "Refund of finance" in text
