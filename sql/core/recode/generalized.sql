-- name: recode/generalized
-- params: generalized (table to make), spans (table), levels (table or none), starred (a
--   class or none), columns (list of {code, last, height, nulls (bool), node (bool: of a
--   hierarchy), tree (table of level, code, low, high; or none), key})
-- returns: class, n, per column lo_, hi_ (codes), at_ integer (the level that is
--   published: -1 the least node, height the root or any value, more than that a starred
--   class), set_ or key_ where its sets are found by it: -1 is any value
-- Any value is the root of a hierarchy, and else what the classes hold together: rows that are left out show
-- nothing of theirs. A level replaces the span of a class by that of the node above its least code: whether this
-- covers the class, verify decides. Below the root NULL is its own node, and a class of NULLs alone has that.
CREATE {{ generalized | scratch }} AS
SELECT
    g.class AS class
    , g.n AS n
{% for c in columns %}
{% set at = "g.at_" ~ c.code %}
{% set any = at ~ " >= " ~ c.height %}
{% set first, last = ("0", c.last) if c.node else ("e.lo_" ~ c.code, "e.hi_" ~ c.code) %}
    , {{ at }} AS at_{{ c.code }}
{% if c.tree %}
    , CAST(
        CASE WHEN {{ any }} THEN {{ first }} ELSE COALESCE(t{{ c.code }}.low, g.lo_{{ c.code }}) END AS INTEGER
    ) AS lo_{{ c.code }}
    , CAST(
        CASE WHEN {{ any }} THEN {{ last }} ELSE COALESCE(t{{ c.code }}.high, g.hi_{{ c.code }}) END AS INTEGER
    ) AS hi_{{ c.code }}
{% else %}
    , CAST(CASE WHEN {{ any }} THEN {{ first }} ELSE g.lo_{{ c.code }} END AS INTEGER) AS lo_{{ c.code }}
    , CAST(CASE
        WHEN {{ any }} THEN {{ last }}
        WHEN {{ at }} = 0 THEN g.lo_{{ c.code }}
        ELSE g.hi_{{ c.code }}
    END AS INTEGER) AS hi_{{ c.code }}
{% endif %}
{% if c.key == "set_" ~ c.code %}
    , CASE
        WHEN {{ any }} THEN e.{{ c.key }}
        WHEN {{ at }} = 0 THEN CAST(1 AS BIGINT) << CAST(g.lo_{{ c.code }} AS INTEGER)
        ELSE g.{{ c.key }}
    END AS {{ c.key }}
{% elif c.key == "key_" ~ c.code %}
    , CASE WHEN {{ any }} THEN -1 ELSE g.class END AS {{ c.key }}
{% endif %}
{% endfor %}
FROM (
    SELECT
        s.class AS class
        , s.n AS n
{% for c in columns %}
        , s.lo_{{ c.code }} AS lo_{{ c.code }}
        , s.hi_{{ c.code }} AS hi_{{ c.code }}
{% if c.key == "set_" ~ c.code %}
        , s.{{ c.key }} AS {{ c.key }}
{% endif %}
        , CAST(
{% if starred is not none %}
            CASE WHEN s.class = {{ starred }} THEN {{ c.height + 1 }} ELSE
{% endif %}
{% if levels and c.nulls %}
            CASE
                WHEN s.hi_{{ c.code }} = 0 AND v.{{ c.code }} < {{ c.height }} THEN -1
                ELSE COALESCE(v.{{ c.code }}, -1)
            END
{% elif levels %}
            COALESCE(v.{{ c.code }}, -1)
{% else %}
            -1
{% endif %}
            {{ "END" if starred is not none }} AS INTEGER
        ) AS at_{{ c.code }}
{% endfor %}
    FROM {{ spans | table }} AS s
{% if levels %}
    LEFT JOIN {{ levels | table }} AS v ON v.class = s.class
{% endif %}
) AS g
CROSS JOIN (
    SELECT
        COUNT(*) AS n
{% for c in columns if not c.node %}
        , MIN(s.lo_{{ c.code }}) AS lo_{{ c.code }}
        , MAX(s.hi_{{ c.code }}) AS hi_{{ c.code }}
{% if c.key == "set_" ~ c.code %}
        , BIT_OR(s.{{ c.key }}) AS {{ c.key }}
{% endif %}
{% endfor %}
    FROM {{ spans | table }} AS s
) AS e
{% for c in columns if c.tree %}
LEFT JOIN {{ c.tree | table }} AS t{{ c.code }} ON t{{ c.code }}.code = g.lo_{{ c.code }}
    AND t{{ c.code }}.level = g.at_{{ c.code }}
{% endfor %}
