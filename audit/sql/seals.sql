-- A page of the chain above a place and up to another, in order. Raw, and times as text, because a
-- proof reads every row: objects and times of Python take three times as long, and there are times
-- in PostgreSQL that Python cannot hold, two of which (infinity) to_char cannot write.   Index: audit_seal_pkey.
SELECT seq, hash,
       coalesce(
           to_char(sealed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'),
           sealed_at::text
       ),
       entry_id
  FROM audit_seal
 WHERE seq > %(above)s AND seq <= %(upto)s
 ORDER BY seq
 LIMIT %(limit)s;
