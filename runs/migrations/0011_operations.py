"""One thing done to many runs: operations and their items."""

from __future__ import annotations

import django.db.models.deletion
import django.db.models.functions.datetime
import runs.models.runs
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0010_silence_and_pictures"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Operation",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=runs.models.runs.new_id,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("cancel", "Cancel"), ("resume", "Force resume")], max_length=10
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("working", "At work"), ("done", "Done"), ("stopped", "Stopped")],
                        default="working",
                        max_length=10,
                    ),
                ),
                ("reason", models.TextField()),
                ("label", models.CharField(max_length=200)),
                ("authenticated_at", models.DateTimeField(blank=True, null=True)),
                ("method", models.CharField(blank=True, default="", max_length=40)),
                ("query", models.TextField(blank=True, default="")),
                ("matched", models.IntegerField(blank=True, null=True)),
                ("token", models.CharField(max_length=64)),
                ("stopped_by", models.CharField(blank=True, default="", max_length=200)),
                ("claim", models.UUIDField(blank=True, null=True)),
                ("claimed_by", models.CharField(blank=True, default="", max_length=200)),
                ("claimed_until", models.DateTimeField(blank=True, null=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "asked_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "permissions": (("order_operation", "Can act on many runs at once"),),
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="OperationItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.IntegerField()),
                ("footing", models.CharField(max_length=80)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("pending", "Not reached yet"),
                            ("done", "Done"),
                            ("skipped", "Skipped"),
                            ("refused", "Refused"),
                            ("stopped", "Not done"),
                        ],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("why", models.TextField(blank=True, default="")),
                ("at", models.DateTimeField(blank=True, null=True)),
                (
                    "operation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="items",
                        to="runs.operation",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="runs.run"
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.AddIndex(
            model_name="operation",
            index=models.Index(fields=["-created_at", "-id"], name="runs_operation_newest"),
        ),
        migrations.AddIndex(
            model_name="operation",
            index=models.Index(
                condition=models.Q(("status", "working")),
                fields=["created_at"],
                name="runs_operation_working",
            ),
        ),
        migrations.AddConstraint(
            model_name="operation",
            constraint=models.UniqueConstraint(
                fields=("asked_by", "token"), name="runs_operation_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="operation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at__isnull", True), ("status", "working")),
                    models.Q(
                        models.Q(("status", "working"), _negated=True), ("ended_at__isnull", False)
                    ),
                    _connector="OR",
                ),
                name="runs_operation_working_or_ended",
            ),
        ),
        migrations.AddIndex(
            model_name="operationitem",
            index=models.Index(
                condition=models.Q(("outcome", "pending")),
                fields=["operation", "position"],
                name="runs_item_pending",
            ),
        ),
        migrations.AddConstraint(
            model_name="operationitem",
            constraint=models.UniqueConstraint(
                fields=("operation", "run"), name="runs_item_once_per_run"
            ),
        ),
        migrations.AddConstraint(
            model_name="operationitem",
            constraint=models.UniqueConstraint(
                fields=("operation", "position"), name="runs_item_in_order"
            ),
        ),
    ]
