-- How far the chain and its signatures reach: the newest place, and the newest signature.
-- Raw because both must be seen at one moment: the sealer adds to both in one commit.
-- Indexes: audit_seal_pkey, audit_signature_pkey.
SELECT (SELECT max(seq) FROM audit_seal), (SELECT max(id) FROM audit_signature);
