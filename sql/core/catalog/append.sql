-- name: catalog/append
-- params: catalog (table), columns (of the catalog, without that of steps), changed (those
--   with new values), step (the column of steps)
-- returns: nothing; the last row of a version once more, with the changes: for engines that change no rows
INSERT INTO {{ catalog | table }} ({% for c in columns %}{{ c }}, {% endfor %}{{ step }})
SELECT
{% for c in columns %}
    {{ (":" ~ c) if c in changed else ("c." ~ c) }},
{% endfor %}
    CAST(COALESCE(CAST(c.{{ step }} AS INTEGER), 0) + 1 AS TEXT)
FROM {{ catalog | table }} AS c
WHERE c.release = :release AND c.version = :version AND COALESCE(CAST(c.{{ step }} AS INTEGER), 0) = (
    SELECT MAX(COALESCE(CAST(d.{{ step }} AS INTEGER), 0))
    FROM {{ catalog | table }} AS d
    WHERE d.release = :release AND d.version = :version
)
