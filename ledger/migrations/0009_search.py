"""What the ledger's pages search by: an effect's agent, its words and its numbers."""

from __future__ import annotations

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models

LEAVES = """
CREATE FUNCTION ledger_leaves(doc jsonb) RETURNS TABLE (path text, leaf jsonb)
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
    )
    SELECT path, held FROM inside WHERE jsonb_typeof(held) IN ('string', 'number') LIMIT 500
$$
"""

WORDS = """
CREATE FUNCTION ledger_words(args jsonb, input jsonb, title text) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(DISTINCT word), '{}')
      FROM (
            SELECT CASE jsonb_typeof(leaf)
                   WHEN 'number' THEN trim_scale((leaf #>> '{}')::numeric)::text
                   ELSE lower(leaf #>> '{}') END AS word
              FROM (SELECT leaf FROM ledger_leaves(args)
                    UNION ALL
                    SELECT leaf FROM ledger_leaves(input)) leaves
             UNION ALL
            SELECT lower(part) FROM regexp_split_to_table(title, '[[:space:](),;:"]+') part
      ) found
     WHERE length(word) BETWEEN 1 AND 200
$$
"""

NUMBERS = """
CREATE FUNCTION ledger_numbers(args jsonb) RETURNS TABLE (path text, value numeric)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT path, value
      FROM (SELECT path, CASE jsonb_typeof(leaf)
                         WHEN 'number' THEN (leaf #>> '{}')::numeric END AS value
              FROM ledger_leaves(args)) numbers
     WHERE abs(value) < 1e12 AND length(path) <= 200
$$
"""

AGENT = """
CREATE FUNCTION ledger_note_agent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.agent := coalesce((SELECT agent FROM runs_run WHERE id = NEW.run_id), '');
    RETURN NEW;
END
$$;
CREATE TRIGGER effects_note_agent BEFORE INSERT ON effects
    FOR EACH ROW EXECUTE FUNCTION ledger_note_agent();
"""

ARGS = """
CREATE FUNCTION ledger_note_args() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM ledger_sought WHERE effect_id = OLD.uid;
        DELETE FROM ledger_number known USING ledger_numbers(OLD.args) gone
         WHERE known.path = gone.path AND known.value = round(gone.value, 15)
           AND known.effect_id = OLD.uid;
    END IF;
    INSERT INTO ledger_sought (effect_id, words)
    SELECT NEW.uid, ledger_words(NEW.args, run.input, run.title)
      FROM runs_run run WHERE run.id = NEW.run_id;
    INSERT INTO ledger_number (path, value, effect_id)
    SELECT path, value, NEW.uid FROM ledger_numbers(NEW.args)
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER effects_note_args AFTER INSERT ON effects
    FOR EACH ROW EXECUTE FUNCTION ledger_note_args();
CREATE TRIGGER effects_note_changed_args AFTER UPDATE OF args ON effects
    FOR EACH ROW WHEN (OLD.args IS DISTINCT FROM NEW.args) EXECUTE FUNCTION ledger_note_args();
"""

INPUT = """
CREATE FUNCTION ledger_note_input() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE ledger_sought sought SET words = ledger_words(effect.args, NEW.input, NEW.title)
      FROM effects effect WHERE effect.run_id = NEW.id AND sought.effect_id = effect.uid;
    RETURN NULL;
END
$$;
CREATE TRIGGER runs_run_note_input AFTER UPDATE OF input, title ON runs_run
    FOR EACH ROW
    WHEN ((OLD.input, OLD.title) IS DISTINCT FROM (NEW.input, NEW.title))
    EXECUTE FUNCTION ledger_note_input();
"""

PATIENCE = """
SELECT set_config(name, '0', true) FROM pg_settings
 WHERE name IN ('statement_timeout', 'transaction_timeout')
"""
"""Filling the tables takes a minute for some 200,000 effects, longer than a page may take."""

FILL = """
UPDATE effects SET agent = run.agent FROM runs_run run WHERE run.id = effects.run_id;
INSERT INTO ledger_sought (effect_id, words)
SELECT effects.uid, ledger_words(effects.args, run.input, run.title)
  FROM effects JOIN runs_run run ON run.id = effects.run_id;
INSERT INTO ledger_number (path, value, effect_id)
SELECT numbers.path, numbers.value, effects.uid
  FROM effects, LATERAL ledger_numbers(effects.args) numbers
    ON CONFLICT DO NOTHING;
"""

DROP = """
DROP TRIGGER runs_run_note_input ON runs_run;
DROP TRIGGER effects_note_changed_args ON effects;
DROP TRIGGER effects_note_args ON effects;
DROP TRIGGER effects_note_agent ON effects;
DROP FUNCTION ledger_note_input(), ledger_note_args(), ledger_note_agent();
DROP FUNCTION ledger_numbers(jsonb), ledger_words(jsonb, jsonb, text), ledger_leaves(jsonb);
"""


class Migration(migrations.Migration):
    dependencies = [("ledger", "0008_inventory"), ("runs", "0005_every_run")]

    operations = [
        migrations.CreateModel(
            name="Number",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "path",
                        "value",
                        "effect_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("path", models.CharField(max_length=200)),
                ("value", models.DecimalField(decimal_places=15, max_digits=27)),
                (
                    "effect",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="numbers",
                        to="ledger.effect",
                        to_field="uid",
                    ),
                ),
            ],
            options={"default_permissions": ()},
        ),
        migrations.CreateModel(
            name="Sought",
            fields=[
                (
                    "effect",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="sought",
                        serialize=False,
                        to="ledger.effect",
                        to_field="uid",
                    ),
                ),
                (
                    "words",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), size=None
                    ),
                ),
            ],
            options={"default_permissions": ()},
        ),
        migrations.AlterModelOptions(
            name="effect",
            options={
                "default_permissions": ("view",),
                "permissions": (
                    ("settle_effect", "Can settle an effect in doubt"),
                    ("undo_effect", "Can have effects of an ended run undone"),
                    ("export_effect", "Can export the ledger"),
                    ("export_unmasked_effect", "Can export the ledger without masking"),
                ),
            },
        ),
        migrations.AddField(
            model_name="effect",
            name="agent",
            field=models.CharField(default="", editable=False, max_length=100),
        ),
        *(
            migrations.RunSQL(statement, migrations.RunSQL.noop)
            for statement in (PATIENCE, LEAVES, WORDS, NUMBERS, FILL, AGENT, ARGS)
        ),
        migrations.RunSQL(INPUT, DROP),
        migrations.RemoveIndex(model_name="effect", name="effects_newest"),
        migrations.RemoveIndex(model_name="effect", name="effects_by_status"),
        migrations.RemoveIndex(model_name="effect", name="effects_by_tool"),
        # Made anew for the beginnings of references, whatever the database's collation.
        migrations.RemoveIndex(model_name="effect", name="effects_by_reference"),
        *(
            migrations.AddIndex(
                model_name="effect",
                index=models.Index(fields=[*first, "-created_at", "-uid"], name=name),
            )
            for first, name in (
                ([], "effects_by_time"),
                (["status"], "effects_by_state"),
                (["tool"], "effects_by_tool"),
                (["agent"], "effects_by_agent"),
            )
        ),
        migrations.AddIndex(
            model_name="effect",
            index=models.Index(
                fields=["settled_by", "-created_at", "-uid"],
                name="effects_by_hand",
                condition=~models.Q(settled_by=""),
            ),
        ),
        migrations.AddIndex(
            model_name="effect",
            index=models.Index(
                fields=["provider_ref"],
                name="effects_by_reference",
                opclasses=("varchar_pattern_ops",),
                condition=~models.Q(provider_ref=""),
            ),
        ),
        migrations.AddIndex(
            model_name="effectattempt",
            index=models.Index(
                fields=["provider_ref"],
                name="ledger_attempt_by_reference",
                condition=~models.Q(provider_ref=""),
            ),
        ),
        migrations.AddIndex(
            model_name="sought",
            index=django.contrib.postgres.indexes.GinIndex(
                fields=["words"], name="ledger_sought_words"
            ),
        ),
    ]
