-- Changes with whatever decides who asks and what they may: their sign-in, their row, their groups and
-- the rights of these. No row: they are not signed in any more.
-- Rows are counted besides: two that went may have been written by transactions whose numbers are, in
-- sum, that of the one that wrote another.
-- Raw because the ORM knows no xmin.   Index: the primary keys, and those of the foreign keys.
SELECT concat_ws(
    '.',
    django_session.xmin,
    accounts_user.xmin,
    (
        SELECT concat_ws('/', count(*), sum(xmin::text::bigint))
        FROM accounts_user_groups WHERE user_id = %(user)s
    ),
    (
        SELECT concat_ws('/', count(*), sum(xmin::text::bigint))
        FROM accounts_user_user_permissions WHERE user_id = %(user)s
    ),
    (
        SELECT concat_ws('/', count(*), sum(rights.xmin::text::bigint))
        FROM accounts_user_groups AS theirs
        INNER JOIN auth_group_permissions AS rights ON rights.group_id = theirs.group_id
        WHERE theirs.user_id = %(user)s
    )
)
FROM django_session, accounts_user
WHERE django_session.session_key = %(session)s
AND django_session.expire_date > clock_timestamp()
AND accounts_user.id = %(user)s
