"""Whether an effect is found by what its pages show to who searches, for searches in the database."""

from __future__ import annotations

from django.db import migrations

WORDS = """
CREATE FUNCTION ledger_shows_words(
    cloak runs_cloak, names text[], args jsonb, input jsonb, title text, sought jsonb
) RETURNS boolean
LANGUAGE plpgsql STABLE COST 5000 SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    IF cloak IS NULL
       AND args::text || input::text !~* replace(array_to_string(names, '|'), '_', '.*') THEN
        RETURN true;
    END IF;
    RETURN NOT EXISTS (
        WITH known AS MATERIALIZED (
            SELECT CASE jsonb_typeof(leaf)
                   WHEN 'number' THEN trim_scale((leaf #>> '{}')::numeric)::text
                   ELSE lower(leaf #>> '{}') END AS word
              FROM ((SELECT leaf, shown FROM runs_shown(args, '{args}', cloak, names)
                      WHERE jsonb_typeof(leaf) IN ('string', 'number') LIMIT 500)
                    UNION ALL
                    (SELECT leaf, shown FROM runs_shown(input, '{}', cloak, names)
                      WHERE jsonb_typeof(leaf) IN ('string', 'number') LIMIT 500)) leaves
             WHERE shown
             UNION ALL
            SELECT lower(part) FROM regexp_split_to_table(title, '[[:space:](),;:"]+') part
        )
        SELECT FROM jsonb_array_elements(sought) ways
         WHERE NOT EXISTS (
                   SELECT FROM known, jsonb_array_elements_text(ways) way WHERE word = lower(way)));
END
$$
"""
"""Of words that `ledger_words` knows, each in the ways in which it may be written."""

VALUE = """
CREATE FUNCTION ledger_shows_value(
    cloak runs_cloak, names text[], args jsonb, sought text
) RETURNS boolean
LANGUAGE plpgsql STABLE COST 5000 SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    gone text[];
BEGIN
    IF cloak IS NULL THEN
        RETURN true;
    END IF;
    FOR gone IN SELECT place[2:] FROM runs_shown(args, '{args}', cloak, names) WHERE NOT shown LOOP
        args := CASE gone WHEN '{}' THEN '{}' ELSE jsonb_set(args, gone, '{}') END;
    END LOOP;
    RETURN args @? sought::jsonpath;
END
$$
"""
"""Of a value, as jsonpath, at a place that is not hidden for its names: they are not compared."""


class Migration(migrations.Migration):
    dependencies = [("ledger", "0013_use_statistics"), ("runs", "0012_shown")]

    operations = [
        migrations.RunSQL(WORDS, "DROP FUNCTION ledger_shows_words"),
        migrations.RunSQL(VALUE, "DROP FUNCTION ledger_shows_value"),
    ]
