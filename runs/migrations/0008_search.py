"""What lists of runs search by: words of titles, fields of inputs, keys, the ends of ids; and the
indexes of their filters by version, starter and error."""

from __future__ import annotations

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

WORDS = r"""
CREATE FUNCTION runs_words(title text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_tsvector('pg_catalog.simple'::regconfig,
                       translate(title, '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32)))
$$
"""

LEAVES = """
CREATE FUNCTION runs_leaves(doc jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH RECURSIVE inside (path, held, depth) AS (
        SELECT '', doc, 0
        UNION ALL
        SELECT CASE WHEN child.key IS NULL THEN inside.path
                    WHEN inside.path = '' THEN child.key
                    ELSE inside.path || '.' || child.key END,
               child.held, depth + 1
          FROM inside,
               LATERAL (
                   SELECT key, value AS held
                     FROM jsonb_each(CASE jsonb_typeof(inside.held)
                                     WHEN 'object' THEN inside.held ELSE '{}' END)
                    UNION ALL
                   SELECT NULL, value
                     FROM jsonb_array_elements(CASE jsonb_typeof(inside.held)
                                               WHEN 'array' THEN inside.held ELSE '[]' END)
               ) child
         WHERE depth < 20
    ), leaves AS (
        SELECT path, CASE jsonb_typeof(held)
                     WHEN 'number' THEN trim_scale((held #>> '{}')::numeric)::text
                     ELSE lower(held #>> '{}') END AS word
          FROM inside
         WHERE jsonb_typeof(held) IN ('string', 'number', 'boolean')
           AND length(path) BETWEEN 1 AND 200
         LIMIT 300
    )
    SELECT coalesce(array_agg(DISTINCT leaf), '{}')
      FROM (SELECT path || '=' || word AS leaf FROM leaves WHERE length(word) BETWEEN 1 AND 200
            UNION ALL
            SELECT path || '=' FROM leaves) found
$$
"""

NOTE = """
CREATE FUNCTION runs_note_sought() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        UPDATE runs_runsought SET words = runs_words(NEW.title), leaves = runs_leaves(NEW.input)
         WHERE run_id = NEW.id;
    ELSE
        INSERT INTO runs_runsought (run_id, words, leaves, key, tail)
        VALUES (NEW.id, runs_words(NEW.title), runs_leaves(NEW.input),
                coalesce(NEW.idempotency_key, ''), reverse(replace(NEW.id::text, '-', '')));
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER runs_run_note_sought AFTER INSERT ON runs_run
    FOR EACH ROW EXECUTE FUNCTION runs_note_sought();
CREATE TRIGGER runs_run_note_changed AFTER UPDATE OF input, title ON runs_run
    FOR EACH ROW WHEN ((OLD.input, OLD.title) IS DISTINCT FROM (NEW.input, NEW.title))
    EXECUTE FUNCTION runs_note_sought();
"""

PATIENCE = """
SELECT set_config(name, '0', true) FROM pg_settings
 WHERE name IN ('statement_timeout', 'transaction_timeout')
"""
"""Filling the table takes a minute for some 200,000 runs, longer than a page may take."""

FILL = """
SET CONSTRAINTS ALL IMMEDIATE;
INSERT INTO runs_runsought (run_id, words, leaves, key, tail)
SELECT id, runs_words(title), runs_leaves(input), coalesce(idempotency_key, ''),
       reverse(replace(id::text, '-', ''))
  FROM runs_run;
"""

DROP = """
DROP TRIGGER runs_run_note_changed ON runs_run;
DROP TRIGGER runs_run_note_sought ON runs_run;
DROP FUNCTION runs_note_sought(), runs_leaves(jsonb), runs_words(text);
"""


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0007_erasure"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="RunSought",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="sought",
                        serialize=False,
                        to="runs.run",
                    ),
                ),
                ("words", django.contrib.postgres.search.SearchVectorField()),
                (
                    "leaves",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), size=None
                    ),
                ),
                ("key", models.TextField(blank=True, default="")),
                ("tail", models.CharField(max_length=32)),
            ],
            options={"default_permissions": ()},
        ),
        *(
            migrations.RunSQL(statement, migrations.RunSQL.noop)
            for statement in (PATIENCE, WORDS, LEAVES, FILL)
        ),
        migrations.RunSQL(NOTE, DROP),
        migrations.AddIndex(
            model_name="runsought",
            index=django.contrib.postgres.indexes.GinIndex(
                fields=["words"], name="runs_sought_words"
            ),
        ),
        migrations.AddIndex(
            model_name="runsought",
            index=django.contrib.postgres.indexes.GinIndex(
                fields=["leaves"], name="runs_sought_leaves"
            ),
        ),
        migrations.AddIndex(
            model_name="runsought",
            index=models.Index(
                condition=~models.Q(key=""), fields=["key"], name="runs_sought_key"
            ),
        ),
        migrations.AddIndex(
            model_name="runsought",
            index=models.Index(
                fields=["tail"], name="runs_sought_tail", opclasses=("text_pattern_ops",)
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["agent_version", "agent", "-created_at", "-id"],
                name="runs_run_by_version",
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["started_by", "-created_at", "-id"], name="runs_run_by_starter"
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=~models.Q(error_class=""),
                fields=["error_class", "-created_at", "-id"],
                name="runs_run_by_error",
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="started_by",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
    ]
