-- How to take away the indexes of some tables that are not those of keys, and how to make them
-- again. Raw because it asks the catalogue.
SELECT format('DROP INDEX %%s', indexrelid::regclass), pg_get_indexdef(indexrelid)
  FROM pg_index
 WHERE indrelid = ANY (%(tables)s::regclass[])
   AND NOT EXISTS (SELECT FROM pg_constraint
                    WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
 ORDER BY indrelid, indexrelid;
