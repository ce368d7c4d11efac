"""Claims: others see who looks at a request, and nobody is kept from anything."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse

from accounts.actors import ClockTimestamp
from approvals import claims, errors
from approvals.models import Claim
from audit.models import Entry
from tests.approvals.conftest import approve, of, reject
from tests.support.people import person
from tests.support.web import html_of, text_of

pytestmark = pytest.mark.django_db


def lookers(request) -> list[str]:
    return [each.label for each in claims.on([request.pk])[request.pk]]


def test_others_see_who_looks_first_come_first(ben, eve, asked):
    request = asked()
    claims.take(request.pk, actor=of(eve))
    claims.take(request.pk, actor=of(ben))
    claims.take(request.pk, actor=of(eve))
    assert lookers(request) == ["Eve", "Ben"]


def test_it_ends_by_itself_and_is_renewed_by_saying_so_again(ben, asked, settings):
    settings.APPROVALS_CLAIM = timedelta(minutes=10)
    request = asked()
    claims.take(request.pk, actor=of(ben))
    Claim.objects.update(expires_at=ClockTimestamp())
    assert lookers(request) == []
    claims.take(request.pk, actor=of(ben))
    assert lookers(request) == ["Ben"]
    claim = Claim.objects.get()
    assert claim.expires_at - claim.at >= timedelta(minutes=10)


def test_it_ends_by_hand(ben, eve, asked):
    request = asked()
    claims.take(request.pk, actor=of(ben))
    claims.release(request.pk, actor=of(eve))
    assert lookers(request) == ["Ben"]
    claims.release(request.pk, actor=of(ben))
    assert lookers(request) == []


def test_it_ends_with_the_vote_of_its_owner_and_with_the_request(ben, eve, asked, rule):
    rule(quorum=2)
    request = asked()
    for each in (ben, eve):
        claims.take(request.pk, actor=of(each))
    approve(request, ben)
    assert lookers(request) == ["Eve"]
    approve(request, eve)
    assert lookers(request) == []


def test_it_keeps_nobody_from_deciding(ben, eve, asked):
    request = asked()
    claims.take(request.pk, actor=of(eve))
    assert approve(request, ben).decided


def test_who_may_not_decide_does_not_claim(ada, asked):
    request = asked()
    claims.take(request.pk, actor=of(ada))  # she may reject
    for name in ("Dee", "Cy"):
        with pytest.raises(errors.NotEligible):
            claims.take(request.pk, actor=of(person(name)))
    assert lookers(request) == ["Ada"]


def test_what_is_decided_is_not_claimed(ben, eve, asked):
    request = asked()
    reject(request, ben)
    with pytest.raises(errors.Withdrawn):
        claims.take(request.pk, actor=of(eve))


def test_the_audit_log_is_not_filled_with_it(ben, asked):
    request = asked()
    before = Entry.objects.count()
    claims.take(request.pk, actor=of(ben))
    claims.release(request.pk, actor=of(ben))
    assert Entry.objects.count() == before


def test_a_person_says_so_on_the_page_and_others_read_it_there_and_in_the_list(
    client, ben, eve, asked
):
    request = asked()
    page = reverse("approvals:review", args=[request.pk])
    address = reverse("approvals:claim", args=[request.pk])
    client.force_login(eve)
    assert f'action="{address}"' in html_of(client.get(page))
    answer = client.post(address, {"look": "yes"}, follow=True)
    assert "Others see that you are looking at this." in text_of(answer)
    assert "You are looking at this" in text_of(client.get("/approvals/"))
    client.force_login(ben)
    assert "Eve is looking at this, since" in text_of(client.get(page))
    assert "Eve is looking at this" in text_of(client.get("/approvals/"))
    client.post(address, {"look": "no"})
    assert lookers(request) == ["Eve"]
    client.force_login(eve)
    client.post(address, {"look": "no"})
    assert "looking at this" not in text_of(client.get("/approvals/"))


def test_only_a_post_of_somebody_who_sees_the_request_says_so(client, ben, asked):
    request = asked()
    address = reverse("approvals:claim", args=[request.pk])
    client.force_login(person("Xan", "approver"))
    assert client.post(address).status_code == 404
    client.force_login(ben)
    for method in (client.get, client.head, client.options):
        assert method(address).status_code == 405
    assert lookers(request) == []
    reject(request, ben)
    assert client.post(address).status_code == 302


def test_a_list_of_many_asks_once(ben, asked, django_assert_num_queries):
    several = [asked().pk for _ in range(3)]
    with django_assert_num_queries(1):
        claims.on(several)
