"""Saved views: whose they are, who sees them, and what an address may be."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.models import SavedView
from tests.support.people import person
from tests.support.web import html_of, text_of

pytestmark = pytest.mark.django_db
BIG = {"name": "Big refunds", "path": "/ledger/", "query": "where=amount_cents+%3E%3D+60000"}


@pytest.fixture
def as_cy(client):
    client.force_login(person("Cy"))
    return client


def test_filters_are_saved_opened_renamed_and_taken_away(as_cy):
    response = as_cy.post("/me/views/save/", BIG, follow=True)
    assert "Saved as Big refunds" in text_of(response)
    assert "amount_cents &gt;= 60000" in html_of(response)
    view = SavedView.objects.get()
    assert f'href="{view.url}"' in html_of(as_cy.get("/ledger/"))
    as_cy.post(f"/me/views/{view.pk}/rename/", {"name": "Large"})
    assert "Large" in text_of(as_cy.get("/me/views/"))
    as_cy.post(f"/me/views/{view.pk}/delete/")
    assert "No saved views" in text_of(as_cy.get("/me/views/"))


def test_the_same_name_again_replaces_what_it_stood_for(as_cy):
    as_cy.post("/me/views/save/", BIG)
    as_cy.post("/me/views/save/", BIG | {"query": "status=failed"})
    assert SavedView.objects.get().query == "status=failed"
    as_cy.post("/me/views/save/", BIG | {"name": "Other"})
    other = SavedView.objects.get(name="Other")
    response = as_cy.post(f"/me/views/{other.pk}/rename/", {"name": "Big refunds"}, follow=True)
    assert "Another view has this name" in text_of(response)


def test_only_who_may_share_shows_a_view_to_everybody(as_cy, client):
    assert as_cy.post("/me/views/save/", BIG | {"shared": "on"}).status_code == 403
    assert not SavedView.objects.exists()
    assert "For everybody" not in text_of(as_cy.get("/ledger/"))
    client.force_login(person("Rut"))
    client.post("/me/views/save/", BIG | {"shared": "on"})
    client.post("/me/views/save/", BIG | {"name": "Mine alone"})
    ada = Client()
    ada.force_login(person("Ada"))
    page = text_of(ada.get("/ledger/"))
    assert "Big refunds" in page
    assert "Mine alone" not in page


def test_nobody_changes_the_view_of_somebody_else(as_cy, client):
    as_cy.post("/me/views/save/", BIG)
    view = SavedView.objects.get()
    client.force_login(person("Rut"))
    assert client.post(f"/me/views/{view.pk}/rename/", {"name": "x"}).status_code == 404
    assert client.post(f"/me/views/{view.pk}/delete/").status_code == 404
    assert SavedView.objects.get().name == "Big refunds"


@pytest.mark.parametrize(
    "path", ["https://evil.example/", "//evil.example/", "/accounts/logout/", "/nowhere/", ""]
)
def test_a_view_leads_to_a_list_of_this_site_and_nowhere_else(as_cy, path):
    as_cy.post("/me/views/save/", BIG | {"path": path})
    assert not SavedView.objects.exists()


@pytest.mark.parametrize("query", ["q=" + "\u20ac" * 1000, "q=" + "x" * 4000])
def test_filters_that_make_no_address_are_not_saved(as_cy, query):
    answer = as_cy.post("/me/views/save/", BIG | {"query": query}, follow=True)
    assert "The filters are too long" in text_of(answer)
    assert not SavedView.objects.exists()


def test_looking_changes_nothing(as_cy):
    for address in ("/me/views/save/", "/me/views/1/rename/", "/me/views/1/delete/"):
        assert as_cy.get(address).status_code == 405
