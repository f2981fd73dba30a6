-- name: functions/contains
-- params: schema (as SQL), temporary (bool: of this connection only)
-- returns: nothing
-- contains(lo, hi, value) -> BOOLEAN: whether the values from lo to hi, both included,
-- have this one. NULL if one is NULL.
CREATE OR REPLACE {{ "TEMPORARY " if temporary }}MACRO {{ schema }}.contains(lo, hi, value) AS
    CASE WHEN lo IS NOT NULL AND hi IS NOT NULL AND value IS NOT NULL THEN value >= lo AND value <= hi END
