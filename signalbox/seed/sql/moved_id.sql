-- The id that a copy has in place of `old`: the same for the same two, and if `old` tells when it
-- was made (version 7), moved by so many milliseconds, so that ids still sort as rows were made.
-- `signalbox.seed.entries` says the same in Python. Raw because it is a function for statements.
CREATE FUNCTION pg_temp.seed_id(copy text, old uuid, moved bigint) RETURNS uuid
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN substr(old::text, 15, 1) = '7'
           THEN overlay(md5(copy || old::text) PLACING
                        lpad(to_hex(('x' || translate(left(old::text, 13), '-', ''))::bit(48)::bigint
                                    + moved), 12, '0')
                        || '7' || substr(md5(copy || old::text), 14, 3) || '8' FROM 1 FOR 17)::uuid
           ELSE md5(copy || old::text)::uuid END
$$;
