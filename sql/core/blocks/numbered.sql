-- name: blocks/numbered
-- params: numbered (table to make), keyed, places (tables), keys (key columns of keyed), columns (of keyed), size (integer)
-- returns: block integer, rid, the columns: by key, then by rid, each ``size`` rows are one block; rows are numbered within a part only, so
--   that no process has all of them
CREATE {{ numbered | scratch }} AS
SELECT CAST((o.place - MOD(o.place, {{ size }})) / {{ size }} AS INTEGER) AS block, o.rid AS rid
{% for column in columns %}
    , o.{{ column }} AS {{ column }}
{% endfor %}
FROM (
    SELECT
        k.rid AS rid
{% for column in columns %}
        , k.{{ column }} AS {{ column }}
{% endfor %}
        , s.before + ROW_NUMBER() OVER (PARTITION BY k.part ORDER BY {% for key in keys %}k.{{ key }}, {% endfor %}k.rid) - 1 AS place
    FROM {{ keyed | table }} AS k
    JOIN {{ places | table }} AS s ON s.part = k.part
) AS o
