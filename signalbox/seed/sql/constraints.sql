-- How to take away the keys and foreign keys of some tables, and how to make them again; foreign
-- keys first, because they stand on keys. Raw because it asks the catalogue.
SELECT format('ALTER TABLE %%s DROP CONSTRAINT %%I', conrelid::regclass, conname),
       format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s',
              conrelid::regclass, conname, pg_get_constraintdef(oid))
  FROM pg_constraint
 WHERE (contype IN ('p', 'u') AND conrelid = ANY (%(tables)s::regclass[]))
    OR (contype = 'f' AND (conrelid = ANY (%(tables)s::regclass[])
                           OR confrelid = ANY (%(tables)s::regclass[])))
 ORDER BY contype = 'f' DESC, conrelid, conname;
