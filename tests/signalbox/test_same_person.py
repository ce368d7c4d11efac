"""Who asks: a stamp that changes with whatever decides what they may (sql/same_person.sql)."""

from __future__ import annotations

import psycopg
import pytest
from django.contrib.auth.models import Group
from django.db import connection, transaction
from django.test import Client

from accounts.models import User
from signalbox import stamps
from tests.support.people import person

Membership = User.groups.through


@pytest.mark.django_db(transaction=True)
def test_other_groups_whose_transactions_have_the_same_sum_change_it(client: Client) -> None:
    """A transaction that began before the first two joins the third of them."""
    ben, groups = person("Ben"), [Group.objects.create(name=name) for name in "ABCD"]
    client.force_login(ben)
    join = "INSERT INTO accounts_user_groups (user_id, group_id) VALUES (%s, %s)"
    while True:  # again where another process took a number in between
        Membership.objects.filter(user=ben).delete()
        with psycopg.connect(**connection.get_connection_params()) as slow:
            slow.execute("SELECT pg_current_xact_id()")
            for group in groups[:2]:
                Membership.objects.create(user=ben, group=group)
            before, sum_ = of(client), sum(xmins(ben))
            slow.execute(join, [ben.pk, groups[2].pk])
        with transaction.atomic():
            Membership.objects.filter(user=ben, group__in=groups[:2]).delete()
            Membership.objects.create(user=ben, group=groups[3])
        if sum_ == sum(xmins(ben)):
            break
    assert of(client) != before


@pytest.mark.django_db(transaction=True)
def test_another_name_of_a_group_changes_it(client: Client) -> None:
    client.force_login(person("Ben", "finance"))
    before = of(client)
    Group.objects.filter(name="finance").update(name="legal")
    assert of(client) != before


def of(client: Client) -> tuple[str, ...]:
    session = client.session
    users = [int(session["_auth_user_id"])]
    rows = stamps.ask("same_person", sessions=[session.session_key], users=users)
    assert rows is not None
    return rows[0]


def xmins(user: User) -> list[int]:
    ask = "SELECT xmin::text::bigint FROM accounts_user_groups WHERE user_id = %s"
    with connection.cursor() as cursor:
        cursor.execute(ask, [user.pk])
        return [number for (number,) in cursor.fetchall()]
