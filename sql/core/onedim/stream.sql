-- name: onedim/stream
-- params: work (table), keyed (table of rid and keys), keys (its key columns), quasi (QI
--   code columns), sensitive (SA code columns)
-- returns: the keys, rid, one column per code, QI first: rows by key, then by QI codes;
--   equal rows alternate between sensitive values
SELECT
{% for key in keys %}
    o.{{ key }} AS {{ key }},
{% endfor %}
    o.rid AS rid
{% for column in quasi + sensitive %}
    , o.{{ column }} AS {{ column }}
{% endfor %}
FROM (
    SELECT
        w.rid AS rid
{% for key in keys %}
        , y.{{ key }} AS {{ key }}
{% endfor %}
{% for column in quasi + sensitive %}
        , w.{{ column }} AS {{ column }}
{% endfor %}
{% if sensitive %}
        , ROW_NUMBER() OVER (
            PARTITION BY {% for column in quasi + sensitive %}{{ ", " if not loop.first }}w.{{ column }}{% endfor %}
            ORDER BY w.rid
        ) AS occurrence
{% endif %}
    FROM {{ work | table }} AS w
    JOIN {{ keyed | table }} AS y ON y.rid = w.rid
) AS o
ORDER BY {% for key in keys %}o.{{ key }}, {% endfor %}{% for column in quasi %}o.{{ column }}, {% endfor %}
    {% if sensitive %}o.occurrence, {% for column in sensitive %}o.{{ column }}, {% endfor %}{% endif %}o.rid
