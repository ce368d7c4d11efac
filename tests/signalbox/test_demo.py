"""The demo's people and runs, and what keeps it away from data that is not its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from runs.models import Run
from signalbox.demo import seed, session
from signalbox.embedded import places
from signalbox.management.commands import demo

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.django_db
def test_seeding_again_adds_nothing(settings):
    settings.DEMO = True
    seed.seed()
    seed.seed()

    assert User.objects.count() == len(seed.PEOPLE)
    assert Run.objects.count() == len(seed.RUNS)


@pytest.mark.django_db
def test_everybody_of_the_demo_may_sign_in_only_in_demo_mode(settings):
    seed.people()
    everybody = list(User.objects.all())

    settings.DEMO = True
    assert all(user.may_sign_in for user in everybody)
    settings.DEMO = False
    assert not any(user.may_sign_in for user in everybody)


@pytest.mark.django_db
def test_an_account_that_is_not_the_demos_is_left_alone():
    real = User.objects.create_user("ada@demo.example", "a real password")

    seed.people()

    real.refresh_from_db()
    assert not real.is_demo
    assert real.check_password("a real password")
    assert not real.groups.exists()


def test_a_reset_leaves_data_alone_that_the_demo_did_not_begin(settings, tmp_path):
    settings.STATE_DIR = tmp_path / "state"
    (settings.STATE_DIR / "postgres").mkdir(parents=True)

    with pytest.raises(CommandError, match="not begun by the demo"):
        call_command("demo", "--reset")

    assert (settings.STATE_DIR / "postgres").exists()


def test_a_second_demo_in_one_folder_is_refused(tmp_path):
    with (
        session.only_one(tmp_path),
        pytest.raises(session.DemoError, match="already"),
        session.only_one(tmp_path),
    ):
        pass


def test_the_demo_never_uses_a_configured_database(tmp_path):
    code = "import manage, sys; sys.argv = ['manage.py', 'demo', '--help']; manage.main()"
    show = "import atexit; from django.conf import settings as s\n"
    show += "atexit.register(lambda: print(s.DATABASE_URL, s.BROKER_URL, s.DEMO, sep='|'))\n"
    said = _python(show + code, DATABASE_URL="postgres://real.example/real", BROKER_URL="redis://x")

    assert said.stdout.splitlines()[-1] == "||True"


def test_a_command_without_services_says_why_in_one_line(tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    code = "import manage, sys; sys.argv = ['manage.py', 'migrate']; sys.exit(manage.main())"

    said = _python(code, **places.environment(blocked), SECRET_KEY="set " * 8)

    assert said.returncode == 1
    assert len(said.stderr.splitlines()) == 1
    assert "SIGNALBOX_STATE" in said.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOG_LEVEL", "bogus"),
        ("EMAIL_URL", "bogus"),
        ("DATABASE_URL", "foo"),
        ("RUNS_LEASE_SECONDS", "-5"),
        ("FAKEPAY_URL", "foo"),
        ("SIGNALBOX_PROXIES", "-1"),
        ("SECRET_KEY", "x"),
    ],
)
def test_a_wrong_variable_ends_any_command_in_one_line_that_names_it(tmp_path, name, value):
    code = "import manage, sys; sys.argv = ['manage.py', 'check']; sys.exit(manage.main())"

    said = _python(code, **places.environment(tmp_path) | {name: value})

    assert said.returncode == 1
    assert len(said.stderr.splitlines()) == 1
    assert name in said.stderr


def test_demos_in_two_folders_keep_their_people_apart(tmp_path):
    code = "from django.conf import settings as s; print(s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME)"

    def cookies(state: str, demo: str) -> str:
        return _python(code, SIGNALBOX_DEMO=demo, SIGNALBOX_STATE=str(tmp_path / state)).stdout

    first, second = cookies("a", "1").split(), cookies("b", "1").split()
    assert not set(first) & set(second)
    assert first == cookies("a", "1").split()
    assert cookies("a", "0").split() == ["sessionid", "csrftoken"]


@pytest.mark.parametrize("port", ["99999", "0", "-1", "x"])
def test_what_is_no_port_is_refused_before_anything_starts(port, capsys):
    with pytest.raises(CommandError, match="no port"):
        call_command("demo", f"--port={port}")


def test_progress_is_not_painted_like_an_error():
    command = demo.Command(stderr=Terminal(), force_color=True)
    command._progress("Starting")
    assert command.stderr._out.getvalue() == "Starting …\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "signalbox.settings"} | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
