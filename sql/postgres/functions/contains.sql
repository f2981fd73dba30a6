-- name: functions/contains
-- params: schema (as SQL)
-- returns: nothing
-- contains(lo, hi, value) -> boolean: whether the values from lo to hi, both included, have this one. NULL if one is
-- NULL. The operators have their schema and the function no path of its own, so that PostgreSQL can still inline it.
CREATE
    OR REPLACE FUNCTION {{ schema }}.contains(lo anycompatible, hi anycompatible, value anycompatible) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $body$
    SELECT value OPERATOR(pg_catalog.>=) lo AND value OPERATOR(pg_catalog.<=) hi
$body$
