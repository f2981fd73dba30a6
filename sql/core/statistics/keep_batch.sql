-- name: statistics/keep_batch
-- params: kept (table to make), table, columns (names), missing (names of those that the new rows do not have),
--   batch (number of the version), hidden (table of cell and ends, or none), ends (list of {name, shown (column;
--   none: 1)}: with hidden the published bounds), before (the same table of the version before, or none)
-- returns: the same rows with the number of the version, and with hidden: 1 where the cell
--   is hidden, and bounds of its numbers; after those of the versions before
CREATE TABLE {{ kept | table }} AS
SELECT
{% for name in columns %}
    {% if name in missing %}CAST(NULL AS BIGINT){% else %}t.{{ name }}{% endif %} AS {{ name }},
{% endfor %}
{% if hidden %}
    CASE WHEN h.cell IS NULL THEN 0 ELSE 1 END AS hidden,
{% for e in ends %}
    CASE WHEN h.cell IS NULL THEN {{ "t." ~ e.shown if e.shown else 1 }} ELSE h.{{ e.name }} END AS {{ e.name }},
{% endfor %}
{% endif %}
    CAST({{ batch }} AS BIGINT) AS batch
FROM {{ table | table }} AS t
{% if hidden %}
LEFT JOIN {{ hidden | table }} AS h ON h.cell = t.cell
{% endif %}
{% if before %}
UNION ALL
SELECT
{% for name in columns %}
    b.{{ name }} AS {{ name }},
{% endfor %}
{% if hidden %}
    b.hidden AS hidden,
{% for e in ends %}
    b.{{ e.name }} AS {{ e.name }},
{% endfor %}
{% endif %}
    b.batch AS batch
FROM {{ before | table }} AS b
{% endif %}
