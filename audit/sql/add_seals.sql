-- Add seals after place `last`, one for each entry and hash, in that order.
-- Raw because the ORM takes twice the time per seal, and the sealer shares its machine with those
-- who record.   No index.
INSERT INTO audit_seal (seq, entry_id, hash, sealed_at)
SELECT %(last)s + made.place, made.entry, made.hash, %(now)s
  FROM unnest(%(entries)s::bigint[], %(hashes)s::text[])
       WITH ORDINALITY AS made (entry, hash, place);
