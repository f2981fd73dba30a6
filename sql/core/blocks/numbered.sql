-- name: blocks/numbered
-- params: numbered (table to make), work, keyed, places (tables), keys (key columns of keyed), columns (of work), size (integer)
-- returns: block integer, rid, the columns: by key, then by rid, each ``size`` rows are one block; rows are numbered within a part only, so
--   that no process has all of them
CREATE {{ numbered | scratch }} AS
SELECT CAST((o.place - MOD(o.place, {{ size }})) / {{ size }} AS INTEGER) AS block, o.rid AS rid
{% for column in columns %}
    , o.{{ column }} AS {{ column }}
{% endfor %}
FROM (
    SELECT
        w.rid AS rid
{% for column in columns %}
        , w.{{ column }} AS {{ column }}
{% endfor %}
        , s.before + ROW_NUMBER() OVER (PARTITION BY k.part ORDER BY {% for key in keys %}k.{{ key }}, {% endfor %}k.rid) - 1 AS place
    FROM {{ work | table }} AS w
    JOIN {{ keyed | table }} AS k ON k.rid = w.rid
    JOIN {{ places | table }} AS s ON s.part = k.part
) AS o
