"""Every setting of Signalbox. A wrong value in the environment stops the start and says which."""

from __future__ import annotations

import os
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from csp.constants import NONE, SELF

from agents import inputs
from signalbox.embedded import places
from signalbox.env import Env

# LangGraph looks once, when it is imported: whether checkpoints may make objects of any class.
os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

env = Env()

BASE_DIR = Path(__file__).resolve().parent.parent
STATE_DIR = Path(env.str("SIGNALBOX_STATE", default=str(BASE_DIR / ".signalbox")))
"""Where embedded services, the development key and demo data live. Never committed."""

RELEASE = env.str("SIGNALBOX_RELEASE", default=version("signalbox"))
"""What runs here, such as the commit of a deploy: workers of another one are marked on pages."""

DEBUG = env.bool("DEBUG", default=False)
DEMO = env.bool("SIGNALBOX_DEMO", default=False)
"""Demo accounts may sign in only while this is on. Never on a machine that others can reach."""

SECRET_KEY = places.secret_key(STATE_DIR, env.secret("SECRET_KEY", least=0 if DEMO else 32))
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
HTTPS = env.bool("SIGNALBOX_HTTPS", default=False)
"""On behind TLS: secure cookies, HSTS, redirect. Off on a developer's machine."""

INSTALLED_APPS = [
    "signalbox.apps.SignalboxConfig",
    "agents.apps.AgentsConfig",
    "approvals.apps.ApprovalsConfig",
    "ledger.apps.LedgerConfig",
    "runs.apps.RunsConfig",
    "audit.apps.AuditConfig",
    "accounts.apps.AccountsConfig",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "django_htmx",
    "template_partials",
    "csp",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "signalbox.polls.Unchanged",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "accounts.middleware.Language",
    "signalbox.middleware.SignInEverywhere",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.middleware.TimeZone",
    "accounts.middleware.Once",
    "signalbox.middleware.NoNul",
    "signalbox.middleware.DomainErrors",
]

ROOT_URLCONF = "signalbox.urls"
WSGI_APPLICATION = "signalbox.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "signalbox.context.chrome",
            ],
            "builtins": ["template_partials.templatetags.partials"],
        },
    }
]

# --- database and broker -------------------------------------------------------------------------

DATABASE_URL = env.str("DATABASE_URL", default="")
"""Empty: the embedded PostgreSQL of STATE_DIR."""
DATABASES = {
    "default": env.postgres_url(
        "DATABASE_URL",
        default=places.database_url(STATE_DIR),
        options=(
            "-c lock_timeout=5s -c idle_in_transaction_session_timeout=30s -c statement_timeout=60s"
        ),
    )
    | {"CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True, "ATOMIC_REQUESTS": False}
}
# The folder of a unix socket is percent-encoded in the address; environ leaves it so.
DATABASES["default"]["HOST"] = unquote(DATABASES["default"]["HOST"])
DATABASES["default"]["OPTIONS"] = {
    # Seconds: somebody waits for a page that says that the database is away.
    "connect_timeout": 5,
    # How often a connection sends one of a driver's statements until it prepares it; 0: never.
    "prepare_threshold": env.count("DATABASE_PREPARE", 3, least=0) or None,
} | DATABASES["default"]["OPTIONS"]

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "signalbox_cache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    },
    "polls": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "polls",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    },
    "told": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "told",
        "OPTIONS": {"MAX_ENTRIES": 200},
    },
    "inquiries": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "inquiries",
        "OPTIONS": {"MAX_ENTRIES": 500},
    },
}
"""In the database, so that attempts to sign in and used codes count for all processes together.
What pages have been told on a poll is remembered by each process alone: see `signalbox.polls`.
Whole answers are some 50 KB each, and few of them at a time: see `signalbox.sharing`; what the
database has said of them: see `signalbox.inquiries`."""

BROKER_URL = env.str("BROKER_URL", default="")
"""Empty: the embedded Valkey of STATE_DIR. The broker is a doorbell: it may lose or repeat."""
CELERY_BROKER_URL = BROKER_URL or places.broker_url(STATE_DIR)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_DIRECT = True
CELERY_TASK_DEFAULT_EXCHANGE_TYPE = "topic"
CELERY_TASK_DEFAULT_QUEUE = "runs"
CELERY_TASK_ROUTES = {
    "runs.tasks.sweep": {"queue": "sweep"},
    "runs.tasks.operate": {"queue": "sweep"},
    "ledger.tasks.dispatch": {"queue": "sweep"},
    "audit.tasks.*": {"queue": "sweep"},
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 60,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "sweep": {
        "task": "runs.tasks.sweep",
        "schedule": env.seconds("RUNS_SWEEP_SECONDS", 2.0).total_seconds(),
        "options": {"expires": 10},
    },
    "seal": {"task": "audit.tasks.seal", "schedule": 1.0, "options": {"expires": 5}},
    "seal_all": {"task": "audit.tasks.seal_all", "schedule": 3600.0, "options": {"expires": 600}},
    "prove": {"task": "audit.tasks.prove", "schedule": 600.0, "options": {"expires": 300}},
}

# --- people --------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["accounts.backends.PeopleBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "overview"
ACCOUNT_ADAPTER = "accounts.adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Signalbox] "
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ALLAUTH_TRUSTED_PROXY_COUNT = env.count("SIGNALBOX_PROXIES", 0, least=0)
"""How many proxies add to X-Forwarded-For. Too low: all people share one limit of attempts."""
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS
MFA_TOTP_ISSUER = "Signalbox"

SIGNALBOX_URL = env.str("SIGNALBOX_URL", default="http://localhost:8000")
"""Where people reach Signalbox: links in mails and channels begin with it."""
# EMAIL_BACKEND, EMAIL_HOST and what else the address says.
globals().update(env.mail_url("EMAIL_URL", default="consolemail://"))
EMAIL_TIMEOUT = 10
"""Seconds that a mail server may take."""
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="signalbox@localhost")

# --- security ------------------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "connect-src": [SELF],
        "img-src": [SELF, "data:"],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
if DEMO:
    # Browsers send a host's cookies to all its ports: without names of their own, two demos on one
    # machine would sign each other's people out.
    SESSION_COOKIE_NAME = f"sessionid_{places.short_name(STATE_DIR)}"
    CSRF_COOKIE_NAME = f"csrftoken_{places.short_name(STATE_DIR)}"
CSRF_FAILURE_VIEW = "signalbox.errors.csrf_failure"
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SILENCED_SYSTEM_CHECKS = (
    [] if HTTPS else ["security.W004", "security.W008", "security.W012", "security.W016"]
)

# --- language, time, files -----------------------------------------------------------------------

LANGUAGE_CODE = "en"
"""The language of the code, of logs, of the command line and of whatever is recorded."""
LANGUAGES = [("en", "English"), ("de", "German")]
"""What pages and mails can be read in: see docs/translation.md for how to add one."""
DEFAULT_LANGUAGE = env.one_of("SIGNALBOX_LANGUAGE", tuple(code for code, _ in LANGUAGES))
"""For people who chose none, in a browser that asks for none of them; and for their mails."""
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = ["signalbox.formats"]
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "static/"
STATIC_ROOT = env.str("STATIC_ROOT", default="") or None
"""Where collectstatic writes, for another server to serve. Empty: WhiteNoise serves the sources."""
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["stderr"], "level": env.level("LOG_LEVEL", "INFO")},
    "loggers": {
        "celery.app.trace": {"level": "WARNING"},  # two lines a second otherwise, that say nothing
        "celery.worker.strategy": {"level": "WARNING"},
        "django.request": {"level": "ERROR"},
        # What these say holds the addresses of webhooks and channels, which are secrets.
        "apprise": {"level": "CRITICAL"},
        "httpcore": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "urllib3": {"level": "ERROR"},
    },
}

# --- runs ----------------------------------------------------------------------------------------

RUNS_AGENTS = [
    {
        "name": "refund_desk",
        "label": "Refund desk",
        "graph": "agents.refund_desk.graph.graph",
        "version": "1.0",
        "title": "Refund order {order_id}",
        "input_schema": inputs.order("10366"),
    },
    {
        "name": "refund_workflow",
        "label": "Refund workflow",
        "graph": "agents.refund_workflow.workflow.refund_workflow",
        "version": "1.0",
        "title": "Refund order {order_id} (workflow)",
        "input_schema": inputs.order("10394"),
    },
    {
        "name": "returns_desk",
        "label": "Returns desk",
        "graph": "agents.returns_desk.graph.graph",
        "version": "1.0",
        "title": "Collect order {order_id}",
        "input_schema": inputs.order("10402"),
    },
]
"""Every agent that may be started: see `runs.registry.Declaration` for the keys."""
RUNS_APPROVALS = "approvals.port.Approvals"
RUNS_LEDGER = "ledger.port.Ledger"
RUNS_MASKS = "approvals.cloaks.Masks"
RUNS_STORIES = ["ledger.story.Story", "approvals.story.Story"]
"""Who adds tabs, events and remarks to the pages of a run: see `runs.ports.Story`."""
RUNS_SIGNS = ["ledger.outbox.signs.dispatcher"]
"""Parts that must run by themselves besides the sweeper, beat and the sealer: functions that return
a `runs.signs.Sign`."""
RUNS_WATCHERS = ["signalbox.overrides.tell"]
"""Functions that are told of each act by hand that breaks a safety rule, in its transaction: see
`runs.overrides`."""
RUNS_KEEPERS = [
    "runs.retention.keeping.History",
    "runs.retention.keeping.States",
    "runs.retention.keeping.Payloads",
    "ledger.retention.Payloads",
    "approvals.retention.Payloads",
]
"""What can be taken away of runs that ended long ago: see `runs.ports.Keeper`."""
RUNS_KEEP_HISTORY = env.days("RUNS_KEEP_HISTORY_DAYS")
"""How long after its end a run keeps the checkpoints before its last; None: for ever."""
RUNS_KEEP_STATES = env.days("RUNS_KEEP_STATES_DAYS")
"""The same for all its checkpoints."""
RUNS_KEEP_PAYLOADS = env.days("RUNS_KEEP_PAYLOADS_DAYS")
"""The same for its input, output, title and errors."""
RUNS_SWEEP_RULES = [
    "ledger.sweep.sweep",
    "ledger.confirmation.inbox.sweep",
    "ledger.reconcile.asking.sweep",
    "ledger.undo.work.sweep",
    "runs.operations.work.sweep",
    "ledger.stops.wake_late",
    "approvals.sweep.sweep",
    "approvals.notices.planning.forget",
    "ledger.outbox.dispatcher.sweep",
]
RUNS_LEASE = env.seconds("RUNS_LEASE_SECONDS", 30.0)
RUNS_HEARTBEAT = env.seconds("RUNS_HEARTBEAT_SECONDS", 5.0)
RUNS_LEASE_MARGIN = timedelta(seconds=env.float("RUNS_LEASE_MARGIN_SECONDS", default=3.0))
"""A driver stops starting effects this long before its lease ends by its own clock."""
RUNS_CRASH_LIMIT = env.count("RUNS_CRASH_LIMIT", 5)
"""Lost attempts in a row at one head before the run is parked as a crash loop."""
RUNS_TRIES = env.count("RUNS_TRIES", 4)
"""Attempts at one head for errors that may pass by themselves."""
RUNS_BACKOFF = timedelta(seconds=env.float("RUNS_BACKOFF_SECONDS", default=2.0))
RUNS_BACKOFF_CAP = timedelta(seconds=env.float("RUNS_BACKOFF_CAP_SECONDS", default=300.0))
RUNS_STALL_AFTER = env.seconds("RUNS_STALL_AFTER_SECONDS", 600.0)
RUNS_RECURSION_LIMIT = env.count("RUNS_RECURSION_LIMIT", 100)
RUNS_INPUT_LIMIT = 256 * 1024
RUNS_HIDDEN_KEYS = frozenset(
    env.list(
        "RUNS_HIDDEN_KEYS",
        default=[
            *("address", "birthday", "email", "iban", "phone", "ssn", "surname"),
            *("card", "cvc", "cvv", "pan", "api_key", "authorization", "cookie"),
            *("credential", "passphrase", "password", "private_key", "secret", "token"),
        ],
    )
)
"""Words in the names of fields whose values pages hide: see `runs.masking`."""

# --- ledger --------------------------------------------------------------------------------------

LEDGER_PERMITS = "approvals.permits.Permits"
LEDGER_GROUNDS = "approvals.grounds.Grounds"
LEDGER_CALL_TIMEOUT = env.seconds("LEDGER_CALL_TIMEOUT_SECONDS", 20.0)
LEDGER_TRIES = env.count("LEDGER_TRIES", 4)
"""Calls in a row whose end nobody heard, before the run is given back or the provider asked."""
LEDGER_REFUSALS = env.count("LEDGER_REFUSALS", 12)
"""Calls in a row that were refused for now, or not found, before an effect fails: ~15 minutes."""
LEDGER_BACKOFF = timedelta(seconds=env.float("LEDGER_BACKOFF_SECONDS", default=1.0))
LEDGER_RESULT_LIMIT = 64 * 1024
"""Bytes of a result; of a larger one the beginning is kept, and the node is told so."""
LEDGER_ARGS_LIMIT = 64 * 1024
"""Bytes of the arguments of an effect; larger ones are refused before anything is sent."""
LEDGER_DRIFT = env.one_of("LEDGER_DRIFT", ("flag", "stop"))
"""When a later attempt asks for another effect than an earlier one: show it, or not start it."""
LEDGER_SECRETS = "ledger.secrets.Files"
"""Where arguments passed as "secret:NAME" have their values: see `ledger.ports.Secrets`."""
LEDGER_SECRETS_DIR = env.str("LEDGER_SECRETS_DIR", default="")
"""For `ledger.secrets.Files`: the secret NAME of a tool is in the file TOOL/NAME in it."""
LEDGER_CONFIRM_AFTER = env.seconds("LEDGER_CONFIRM_AFTER_SECONDS", 60.0)
"""How long after an effect its provider is first asked to confirm it, if it can be asked; the wait
doubles with each look. What is in doubt is asked about without end, at most this often."""
LEDGER_CONFIRM_LOOKS = env.count("LEDGER_CONFIRM_LOOKS", 6)
"""How often a provider is asked to confirm what it said itself: for about an hour."""
LEDGER_LOOK_CAP = timedelta(hours=1)
"""The longest wait between two looks."""
LEDGER_DESTINATIONS = {
    "notices": "approvals.notices.planning.plan",
    "notices.mail": "approvals.notices.mails.send",
    "notices.channel": "approvals.notices.channels.send",
    "audit.mail": "signalbox.mails.send",
    "operators.mail": "signalbox.mails.send",
}
"""Where messages of the outbox go: a name, and the handler that sends what is meant for it."""
LEDGER_WEBHOOKS = env.addresses("LEDGER_WEBHOOKS")
"""More destinations: a name, and the address to which messages are posted as JSON. Secrets."""
LEDGER_HOOKS: dict[str, dict[str, Any]] = {
    "fakepay": {"read": "ledger.confirmation.stripe.read", "tools": ["payments.*"]},
}
"""Who may tell us by webhook how effects ended, at /hooks/NAME/: the function that reads an event,
and patterns of the tools that this provider performs."""
LEDGER_HOOK_SECRETS = env.secrets("LEDGER_HOOK_SECRETS")
"""What these sign with: a name, and a secret or several while one is changed. Without: nobody."""
LEDGER_HOOK_TOLERANCE = env.seconds("LEDGER_HOOK_TOLERANCE_SECONDS", 300.0)
"""How old a signature may be, by the database's clock."""
LEDGER_HOOK_LIMIT = 256 * 1024
"""Bytes of a webhook; longer ones are refused."""
LEDGER_OUTBOX_TRIES = env.count("LEDGER_OUTBOX_TRIES", 12)
"""Before a message is given up: about two hours with the waits below."""
LEDGER_OUTBOX_BACKOFF = timedelta(seconds=env.float("LEDGER_OUTBOX_BACKOFF_SECONDS", default=5.0))
LEDGER_OUTBOX_BACKOFF_CAP = timedelta(hours=1)
LEDGER_OUTBOX_CLAIM = env.seconds("LEDGER_OUTBOX_CLAIM_SECONDS", 120.0)
"""After this time whoever claimed a message is taken for dead, and another one sends it."""
LEDGER_OUTBOX_PACES = env.pauses("LEDGER_OUTBOX_PACES")
"""Destinations that are served at a pace: a name, and the time from one message to the next."""
LEDGER_KEEP_PAYLOADS = env.days("LEDGER_KEEP_PAYLOADS_DAYS")
"""How long after its run's end an effect keeps arguments and result; None: for ever."""
LEDGER_UNDECLARED = env.one_of("LEDGER_UNDECLARED", ("warn", "refuse"))
"""What a worker does about bound tools that declare nothing: tell, or refuse to start."""
LEDGER_READS = frozenset(env.list("LEDGER_READS", default=[]))
"""Names of bound tools that only read and cannot be marked in their code, such as a server's."""
LEDGER_OUTBOX_KEEP = timedelta(days=env.float("LEDGER_OUTBOX_KEEP_DAYS", default=30.0))
"""Sent messages are forgotten after this time, and with them that their key was used."""

# --- approvals -----------------------------------------------------------------------------------

APPROVALS_POLICIES = [
    {
        "name": "refunds",
        "agent": "refund_*",
        "group": "finance",
        "four_eyes": True,
        "quorum": 1,
        "deadline": timedelta(hours=24),
        "on_deadline": "reject",
    },
]
"""First match wins: see `approvals.policies.rule.Policy` for the keys. No match: APPROVALS_DEFAULT.

The seed: once an admin has changed a policy on the page, the stored ones are in force.
"""
APPROVALS_DEFAULT = {
    "name": "default",
    "group": "approver",
    "four_eyes": True,
    "quorum": 1,
    "deadline": timedelta(hours=24),
    "on_deadline": "reject",
}
APPROVALS_KEEP_PAYLOADS = env.days("APPROVALS_KEEP_PAYLOADS_DAYS")
"""How long after their run's end questions and answers are kept; None: for ever."""
APPROVALS_ROUNDS = env.count("APPROVALS_ROUNDS", 5)
APPROVALS_CHANNELS = env.channels("APPROVALS_CHANNELS")
"""Where groups are told: a group, and addresses that Apprise understands. Secrets."""
APPROVALS_NOTICE_GATHER = env.count("APPROVALS_NOTICE_GATHER_MINUTES", 1, least=0)
"""What comes within these minutes goes into one mail, for people who have chosen nothing else."""
APPROVALS_NOTICE_WAVE = env.count("APPROVALS_NOTICE_WAVE", 5)
"""How many people are called at once for one request; the next ones if it is still open later."""
APPROVALS_NOTICE_WAVE_APART = timedelta(
    seconds=env.float("APPROVALS_NOTICE_WAVE_SECONDS", default=120.0)
)
APPROVALS_CLAIM = 60 * env.seconds("APPROVALS_CLAIM_MINUTES", 10.0)
"""How long others see that somebody looks at a request."""

# --- audit ---------------------------------------------------------------------------------------

AUDIT_SIGNING_KEY = places.signing_key(STATE_DIR, env.signing_key("AUDIT_SIGNING_KEY"))
"""Signs exports and the audit log. The same for all processes; never in the database's reach."""
AUDIT_KEY_IS_GIVEN = bool(env.signing_key("AUDIT_SIGNING_KEY"))
"""False: the state folder of each machine keeps one of its own."""
AUDIT_PUBLIC_KEYS = env.public_keys("AUDIT_PUBLIC_KEYS")
"""Further keys whose signatures count: of former ones, for what was signed with them."""
AUDIT_ANCHOR_FILE = Path(
    env.str("AUDIT_ANCHOR_FILE", default=str(STATE_DIR / "audit-anchors.jsonl"))
)
"""Grows by a line a day. Best on a disk that the database's owner cannot write to."""
AUDIT_ANCHOR_SINKS = ["signalbox.proofs.tell"]
"""Functions that are told of each anchor, in its transaction."""
AUDIT_ALARMS = ["signalbox.proofs.alarm"]
"""Functions that are told what is wrong, if the daily proof fails."""
AUDIT_TITLES = "signalbox.titles.of"
"""Says what the list of entries calls the things that they are about: see `audit.ports`."""
AUDIT_MAIL = env.list("AUDIT_MAIL", default=[])
"""Addresses that get every anchor, and every alarm. Best of people who do not run the database."""
AUDIT_WEBHOOK = env.str("AUDIT_WEBHOOK", default="")
"""A destination of LEDGER_WEBHOOKS that gets the same as JSON."""

# --- example provider ----------------------------------------------------------------------------

FAKEPAY_URL = env.http_url("FAKEPAY_URL", "http://127.0.0.1:8940")
REFUND_MODEL = env.str("REFUND_MODEL", default="")
"""Empty: the scripted chat model. Otherwise a name that LangChain's init_chat_model understands."""

if any(
    (
        RUNS_KEEP_HISTORY,
        RUNS_KEEP_STATES,
        RUNS_KEEP_PAYLOADS,
        LEDGER_KEEP_PAYLOADS,
        APPROVALS_KEEP_PAYLOADS,
    )
):
    CELERY_BEAT_SCHEDULE["retain"] = {
        "task": "runs.tasks.retain",
        "schedule": 86_400.0,
        "options": {"expires": 3600},
    }
UNKNOWN_VARIABLES = env.unknown("RUNS_", "LEDGER_", "APPROVALS_", "AUDIT_")
"""What the environment sets in vain, with the name that may be meant: see `signalbox.checks`."""
