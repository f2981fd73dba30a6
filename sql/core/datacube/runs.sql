-- name: datacube/runs
-- params: runs (table to make), parts, domain (tables), shape (ends, texts, value, node or set), type
--   (of the values), steps (bool: every step between two values counts, not only those that the source
--   holds), order (table of value, rank, or none), texts (table of label, low, high for shape texts;
--   and size for shape node), nil (code of NULL), top (largest code), any (how many values there are)
-- returns: part, low, high (codes of the first and the last possible value; NULL: the source does not hold an end),
--   size (values in all). A part of NULL and ends has two rows: half of it is NULL, so that its values count twice.
{% set width = "CAST(oh.rank - ol.rank AS DOUBLE) + 1" if order else ("h.ord - l.ord + 1" if steps
    else "CAST(h.code - l.code AS DOUBLE) + 1") %}
CREATE {{ runs | scratch }} AS
SELECT
    p.part AS part
{% if shape == "set" %}
    , CASE p.state WHEN 'some' THEN 0 ELSE {{ nil }} END AS low
    , CASE p.state WHEN 'some' THEN {{ top }} ELSE {{ nil }} END AS high
    , CAST(CASE p.state WHEN 'some' THEN {{ any }} ELSE 1 END AS DOUBLE) AS size
FROM {{ parts | table }} AS p
WHERE p.state <> 'none'
{% else %}
    , CASE p.state
        WHEN 'some' THEN 0
        WHEN 'all' THEN {{ nil }}
        ELSE {{ "k.low" if shape == "node" else "l.code" }}
    END AS low
    , CASE p.state
        WHEN 'some' THEN {{ top }}
        WHEN 'all' THEN {{ nil }}
        ELSE {{ "k.high" if shape == "node" else "h.code" }}
    END AS high
    , CAST(CASE p.state
        WHEN 'some' THEN {{ any }}
        WHEN 'all' THEN 1
{% if shape == "ends" %}
        WHEN 'ends' THEN 2 * ({{ width }})
{% endif %}
        ELSE {{ "k.size" if shape == "node" else width }}
    END AS DOUBLE) AS size
FROM {{ parts | table }} AS p
{% if shape in ("texts", "node") %}
LEFT JOIN {{ texts | table }} AS k ON k.label = p.value
{% endif %}
{% if shape != "node" %}
{% set low = "CAST(k.low AS " ~ type ~ ")" if shape == "texts" else ("p.lo" if shape == "ends"
    else "CAST(p.value AS " ~ type ~ ")") %}
{% set high = "CAST(k.high AS " ~ type ~ ")" if shape == "texts" else ("p.hi" if shape == "ends" else low) %}
LEFT JOIN {{ domain | table }} AS l ON l.value = {{ low }}
LEFT JOIN {{ domain | table }} AS h ON h.value = {{ high }}
{% if order %}
LEFT JOIN {{ order | table }} AS ol ON ol.value = {{ low }}
LEFT JOIN {{ order | table }} AS oh ON oh.value = {{ high }}
{% endif %}
{% if shape == "ends" %}
UNION ALL
SELECT p.part AS part, {{ nil }} AS low, {{ nil }} AS high, CAST(2 AS DOUBLE) AS size
FROM {{ parts | table }} AS p
WHERE p.state = 'ends'
{% endif %}
{% endif %}
{% endif %}
