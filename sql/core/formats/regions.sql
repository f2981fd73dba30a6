-- name: formats/regions
-- params: regions (table to make), boxes (table), columns (list of {code, kind, last (code), height,
--   leveled (bool: boxes have a level), either (bool: a cell is a value or nothing), found})
-- returns: class, n, per column what a cell of the class may be: first_, last_ integer, an
--   interval of codes, NULL for the set of the class's own values, -1 for that of all
--   classes; level_ double, the level that is published over the height of the hierarchy
-- A cell that may be NULL as well as a value, and one of a starred row, may be anything.
-- NULL is code 0, alone in its cell.
CREATE {{ regions | scratch }} AS
SELECT
    b.class AS class
    , b.n AS n
{% for c in columns %}
{% set lo, hi, at = "b.lo_" ~ c.code, "b.hi_" ~ c.code, "b.at_" ~ c.code %}
{% set any %}
b.null_{{ c.code }} = 'some'{% if c.either %} OR b.lm_{{ c.code }} = 1{% endif %}

{% if c.leveled %}
OR {{ at }} > {{ c.height }}
{% endif %}
{% endset %}
{% for end in ("first", "last") %}
{% set own = lo if end == "first" else hi %}
    , CAST(CASE
        WHEN {{ any }} THEN {{ 0 if end == "first" else c.last }}
{% if c.kind == "tree" %}
        ELSE COALESCE(f{{ c.code }}.node_{{ "low" if end == "first" else "high" }}, {{ own }})
{% elif c.kind == "set" %}
        WHEN {{ lo }} = {{ hi }} THEN {{ own }}
{% if c.leveled %}
        WHEN {{ at }} >= {{ c.height }} THEN -1
{% endif %}
{% else %}
        ELSE {{ own }}
{% endif %}
      END AS INTEGER) AS {{ end }}_{{ c.code }}
{% endfor %}
    , CAST(CASE
        WHEN {{ any }} THEN 1
{% if c.leveled %}
        WHEN {{ at }} >= 0 THEN CAST(LEAST({{ at }}, {{ c.height }}) AS DOUBLE) / {{ c.height if c.height > 0 else 1 }}
{% endif %}
{% if c.kind == "tree" %}
        ELSE CAST(COALESCE(f{{ c.code }}.node_level, 0) AS DOUBLE) / {{ c.height if c.height > 0 else 1 }}
{% else %}
        WHEN {{ lo }} = {{ hi }} THEN 0
        ELSE 1
{% endif %}
      END AS DOUBLE) AS level_{{ c.code }}
{% endfor %}
FROM {{ boxes | table }} AS b
{% for c in columns %}
{% if c.kind == "tree" %}
LEFT JOIN {{ c.found | table }} AS f{{ c.code }} ON f{{ c.code }}.low = {{ "b.lo_" ~ c.code }}
    AND f{{ c.code }}.high = {{ "b.hi_" ~ c.code }}
{% if c.leveled %}
    AND f{{ c.code }}.at = LEAST(b.at_{{ c.code }}, {{ c.height }})
{% endif %}
{% endif %}
{% endfor %}
