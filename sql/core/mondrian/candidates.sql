-- name: mondrian/candidates
-- params: candidates (table to make), items (table), attribute (the one that is cut),
--   attributes (list of {code, weight, kind, size, nulls, tree}), sensitive (SA code
--   columns), checks (list of {kind, p, q, value, within}), k, relaxed (bool), median (bool)
-- returns: part, dim, cut, n_left, key1, key2, key3 bigint: the allowed cuts of every open partition on one attribute
-- LeFevre et al. 2006, section 4, for all partitions of a level at once. A slot v is a
-- value of the attribute (strict) or a place in its order (relaxed). Windows turn the
-- frequency set into boxes of every prefix (l_) and of every suffix (r_).
{% macro prefix(order="v") %}ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW{% endmacro %}
{% macro extent(a, low, high, pos_low, pos_high, members) %}
CASE
            WHEN {{ low }} = {{ high }} THEN 0
{% if a.nulls %}
            WHEN {{ low }} = 0 THEN 1048576
{% endif %}
{% if a.kind == "ordered" %}
            ELSE {{ pos_high }} - {{ pos_low }}
{% elif a.kind == "set" %}
            ELSE CAST(FLOOR(CAST({{ members }} * 1048576 AS DOUBLE) / {{ a.size }}) AS BIGINT)
{% elif a.kind == "span" %}
            ELSE CAST(
                FLOOR(CAST(({{ high }} - {{ low }} + 1) * CAST(1048576 AS BIGINT) AS DOUBLE) / {{ a.size }}) AS BIGINT
            )
{% else %}
            ELSE (SELECT MIN(t.extent) FROM {{ a.tree | table }} AS t WHERE t.low <= {{ low }} AND t.high >= {{ high }})
{% endif %}
        END
{% endmacro %}
CREATE {{ candidates | scratch }} AS
WITH x AS (
    SELECT
        i.part AS part
        , i.n AS n
{% if relaxed %}
        , ROW_NUMBER() OVER (PARTITION BY i.part ORDER BY i.{{ attribute.code }}, i.tie) AS v
{% else %}
        , i.{{ attribute.code }} AS v
{% endif %}
{% for a in attributes %}
        , i.{{ a.code }} AS {{ a.code }}
{% if a.kind == "ordered" %}
        , i.p_{{ a.code }} AS p_{{ a.code }}
{% endif %}
{% endfor %}
{% for c in sensitive %}
        , i.{{ c }} AS {{ c }}
{% endfor %}
    FROM {{ items | table }} AS i
)
, f AS (
    SELECT
        x.part AS part
        , x.v AS v
        , CAST(SUM(x.n) AS BIGINT) AS n
{% for a in attributes %}
        , MIN(x.{{ a.code }}) AS lo_{{ a.code }}
        , MAX(x.{{ a.code }}) AS hi_{{ a.code }}
{% if a.kind == "ordered" %}
        , MIN(x.p_{{ a.code }}) AS pl_{{ a.code }}
        , MAX(x.p_{{ a.code }}) AS ph_{{ a.code }}
{% endif %}
{% endfor %}
    FROM x AS x
    GROUP BY x.part, x.v
)
{% for a in attributes if a.kind == "set" %}
, ends_{{ a.code }} AS (
    SELECT x.part AS part, x.{{ a.code }} AS code, MIN(x.v) AS first_v, MAX(x.v) AS last_v
    FROM x AS x
    GROUP BY x.part, x.{{ a.code }}
)
, first_{{ a.code }} AS (
    SELECT e.part AS part, e.first_v AS v, COUNT(*) AS n FROM ends_{{ a.code }} AS e GROUP BY e.part, e.first_v
)
, last_{{ a.code }} AS (
    SELECT e.part AS part, e.last_v AS v, COUNT(*) AS n FROM ends_{{ a.code }} AS e GROUP BY e.part, e.last_v
)
{% endfor %}
{% for c in checks %}
{% set i = loop.index %}
{% set group %}{% for g in c.within %}, {{ g }}{% endfor %}{% endset %}
{% for way in ("up", "down") %}
{% set by = "v" if way == "up" else "v DESC" %}
, seen_{{ way }}{{ i }} AS (
{% if c.kind == "frequency" %}
    SELECT
        part
        , v{{ group }}
        , SUM(n) OVER (
            PARTITION BY part{{ group }}, {{ c.value }}
            ORDER BY {{ by }}
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS so_far
        , n
    FROM (
        SELECT part, v{{ group }}, {{ c.value }}, SUM(n) AS n FROM x AS x GROUP BY part, v{{ group }}, {{ c.value }}
    ) AS s
{% else %}
    SELECT part, v{{ group }}
        , CASE
            WHEN ROW_NUMBER() OVER (PARTITION BY part{{ group }}, {{ c.value }} ORDER BY {{ by }}) = 1 THEN 1
            ELSE 0
        END AS so_far
        , n
    FROM (
        SELECT part, v{{ group }}, {{ c.value }}, SUM(n) AS n FROM x AS x GROUP BY part, v{{ group }}, {{ c.value }}
    ) AS s
{% endif %}
)
, state_{{ way }}{{ i }} AS (
    SELECT part, v{{ group }}
{% if c.kind == "frequency" %}
        , CASE
            WHEN MAX(most) OVER (
                PARTITION BY part{{ group }} ORDER BY {{ by }} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) * CAST({{ c.p }} AS BIGINT)
                > SUM(n) OVER (
                    PARTITION BY part{{ group }} ORDER BY {{ by }} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) * CAST({{ c.q }} AS BIGINT) THEN 1
            ELSE 0
        END AS fails
    FROM (
        SELECT part, v{{ group }}, MAX(so_far) AS most, SUM(n) AS n
        FROM seen_{{ way }}{{ i }} AS s
        GROUP BY part, v{{ group }}
    ) AS s
{% else %}
        , CASE
            WHEN SUM(fresh) OVER (
                PARTITION BY part{{ group }} ORDER BY {{ by }} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) < {{ c.p }}
                THEN 1
            ELSE 0
        END AS fails
    FROM (
        SELECT part, v{{ group }}, SUM(so_far) AS fresh
        FROM seen_{{ way }}{{ i }} AS s
        GROUP BY part, v{{ group }}
    ) AS s
{% endif %}
)
, change_{{ way }}{{ i }} AS (
    SELECT part, v, SUM(step) AS step
    FROM (
        SELECT part, v, fails - LAG(fails, 1, 0) OVER (PARTITION BY part{{ group }} ORDER BY {{ by }}) AS step
        FROM state_{{ way }}{{ i }} AS s
    ) AS s
    GROUP BY part, v
)
{% endfor %}
{% endfor %}
, w AS (
    SELECT
        f.part AS part
        , f.v AS v
        , f.n AS n
        , LEAD(f.n, 1, 0) OVER (PARTITION BY f.part ORDER BY f.v) AS n_next
        , SUM(f.n) OVER (PARTITION BY f.part ORDER BY f.v ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n_left
        , SUM(f.n) OVER (PARTITION BY f.part) AS n_all
{% for a in attributes %}
{# A frame that begins with its partition grows by a row at a time on every engine; PostgreSQL reads any other anew for
   each row. #}
{% for side, slots, frame in (("l", "f.v", "UNBOUNDED PRECEDING AND CURRENT ROW"), ("r", "f.v DESC",
    "UNBOUNDED PRECEDING AND 1 PRECEDING"), ("t", "f.v", "UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")) %}
{% if (side == "t") == median and (not median or a.code == attribute.code) %}
        , MIN(f.lo_{{ a.code }}) OVER (
            PARTITION BY f.part ORDER BY {{ slots }} ROWS BETWEEN {{ frame }}
        ) AS {{ side }}lo_{{ a.code }}
        , MAX(f.hi_{{ a.code }}) OVER (
            PARTITION BY f.part ORDER BY {{ slots }} ROWS BETWEEN {{ frame }}
        ) AS {{ side }}hi_{{ a.code }}
{% if a.kind == "ordered" %}
        , MIN(f.pl_{{ a.code }}) OVER (
            PARTITION BY f.part ORDER BY {{ slots }} ROWS BETWEEN {{ frame }}
        ) AS {{ side }}pl_{{ a.code }}
        , MAX(f.ph_{{ a.code }}) OVER (
            PARTITION BY f.part ORDER BY {{ slots }} ROWS BETWEEN {{ frame }}
        ) AS {{ side }}ph_{{ a.code }}
{% elif a.kind == "set" %}
        , SUM(
            COALESCE({{ "last_" if side == "r" else "first_" }}{{ a.code }}.n, 0)
        ) OVER (PARTITION BY f.part ORDER BY {{ slots }} ROWS BETWEEN {{ frame }}) AS {{ side }}m_{{ a.code }}
{% endif %}
{% endif %}
{% endfor %}
{% endfor %}
{% for c in checks %}
        , SUM(up{{ loop.index }}.step) OVER (
            PARTITION BY f.part ORDER BY f.v ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS l_fails{{ loop.index }}
        , SUM(down{{ loop.index }}.step) OVER (
            PARTITION BY f.part ORDER BY f.v DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS r_fails{{ loop.index }}
{% endfor %}
    FROM f AS f
{% for a in attributes if a.kind == "set" %}
    LEFT JOIN first_{{ a.code }} AS first_{{ a.code }} ON first_{{ a.code }}.part = f.part
        AND first_{{ a.code }}.v = f.v
    LEFT JOIN last_{{ a.code }} AS last_{{ a.code }} ON last_{{ a.code }}.part = f.part AND last_{{ a.code }}.v = f.v
{% endfor %}
{% for c in checks %}
    LEFT JOIN change_up{{ loop.index }} AS up{{ loop.index }} ON up{{ loop.index }}.part = f.part
        AND up{{ loop.index }}.v = f.v
    LEFT JOIN change_down{{ loop.index }} AS down{{ loop.index }} ON down{{ loop.index }}.part = f.part
        AND down{{ loop.index }}.v = f.v
{% endfor %}
)
SELECT
    w.part AS part
    , {{ attribute.dim }} AS dim
    , CAST(w.v AS BIGINT) AS cut
    , CAST(w.n_left AS BIGINT) AS n_left
{% if median %}
{% for a in attributes if a.code == attribute.code %}
    , CAST(
        -1
            * CAST({{ a.weight }} AS BIGINT)
            * {{ extent(a, "w.tlo_" ~ a.code, "w.thi_" ~ a.code, "w.tpl_" ~ a.code, "w.tph_" ~ a.code, "w.tm_"
                ~ a.code) }} AS BIGINT
    ) AS key1
{% endfor %}
    , CAST(0 AS BIGINT) AS key2
    , CAST(CASE WHEN 2 * w.n_left >= w.n_all THEN 0 ELSE 1 END AS BIGINT) AS key3
{% else %}
    , CAST(w.n_left * (CAST(0 AS BIGINT)
{% for a in attributes %}
        + CAST({{ a.weight }} AS BIGINT)
            * {{ extent(a, "w.llo_" ~ a.code, "w.lhi_" ~ a.code, "w.lpl_" ~ a.code, "w.lph_" ~ a.code, "w.lm_"
                ~ a.code) }}
{% endfor %}
    ) + (w.n_all - w.n_left) * (CAST(0 AS BIGINT)
{% for a in attributes %}
        + CAST({{ a.weight }} AS BIGINT)
            * {{ extent(a, "w.rlo_" ~ a.code, "w.rhi_" ~ a.code, "w.rpl_" ~ a.code, "w.rph_" ~ a.code, "w.rm_"
                ~ a.code) }}
{% endfor %}
    ) AS BIGINT) AS key1
    , CAST(ABS(2 * w.n_left - w.n_all) AS BIGINT) AS key2
    , CAST(w.v AS BIGINT) AS key3
{% endif %}
FROM w AS w
WHERE w.n_left >= {{ k }} AND w.n_all - w.n_left >= {{ k }}
{% for c in checks %}
    AND w.l_fails{{ loop.index }} = 0 AND w.r_fails{{ loop.index }} = 0
{% endfor %}
{% if median %}
    -- The median is the value at rank (n + 1) // 2; the slot before it makes the cut "< median".
    AND ((2 * w.n_left >= w.n_all AND 2 * (w.n_left - w.n) < w.n_all)
{% if not relaxed %}
        OR (2 * w.n_left < w.n_all AND 2 * (w.n_left + w.n_next) >= w.n_all)
{% endif %}
    )
{% endif %}
