-- name: blocks/along
-- params: keyed, places (tables), keys (key columns of keyed), columns (of keyed), size (integer)
-- returns: block integer (how many rows are in blocks before it), rid, the columns: by key, then by rid, each ``size`` rows are one block
-- Only the rows of parts with a border are brought into their order: no process has all rows.
SELECT CAST(s.first AS INTEGER) AS block, k.rid AS rid{% for column in columns %}, k.{{ column }} AS {{ column }}{% endfor %}

FROM {{ keyed | table }} AS k
JOIN {{ places | table }} AS s ON s.part = k.part
WHERE s.first = s.last
UNION ALL
SELECT CAST(o.place - MOD(o.place, {{ size }}) AS INTEGER) AS block, o.rid AS rid{% for column in columns %}, o.{{ column }} AS {{ column }}{% endfor %}

FROM (
    SELECT
        k.rid AS rid
{% for column in columns %}
        , k.{{ column }} AS {{ column }}
{% endfor %}
        , s.before + ROW_NUMBER() OVER (PARTITION BY k.part ORDER BY {% for key in keys %}k.{{ key }}, {% endfor %}k.rid) - 1 AS place
    FROM {{ keyed | table }} AS k
    JOIN {{ places | table }} AS s ON s.part = k.part
    WHERE s.first < s.last
) AS o
