-- name: noisy/again
{% macro hash(text) %}SHA2(CAST(:secret AS STRING) || {{ text }}, 256){% endmacro %}
{% macro own(r) %}'/{{ number }}/' || CAST({{ r }}.cell AS STRING) || '/' || {{ r }}.person{% endmacro %}
{% macro group(r) %}'/group' || {{ own(r) }}{% endmacro %}
{% macro row(r, copy) %}
'/row/' || CAST({{ copy }} AS STRING)
{% for m in measures %}
    || '/' || COALESCE(CAST({{ r }}.{{ m }} AS STRING), 'n')
{% endfor %}
    || {{ own(r) }}
{% endmacro %}
WITH kinds AS (
    SELECT
        k.person AS person
        , 0
{% for c in columns %}
            + CAST(k.{{ c.code }} AS BIGINT){% for d in columns[loop.index:] %} * {{ d.size }}{% endfor %}

{% endfor %}
            AS cell
{% for m in measures %}
        , k.{{ m }} AS {{ m }}
{% endfor %}
        , COUNT(*) AS many
    FROM {{ coded | table }} AS k
    WHERE k.person IS NOT NULL{% for c in columns %} AND k.{{ c.code }} >= 0{% endfor %}

{% for code in needed %}
        AND k.{{ code }} >= 0
{% endfor %}
    GROUP BY 1, 2{% for m in measures %}, {{ loop.index + 2 }}{% endfor %}

)
{% if measures %}
, each AS (
    SELECT
        k.person AS person
        , k.cell AS cell
{% for m in measures %}
        , k.{{ m }} AS {{ m }}
{% endfor %}
        , EXPLODE(SEQUENCE(1, k.many)) AS copy
    FROM kinds AS k
)
, lists AS (
    SELECT e.person AS person, e.cell AS cell
        , SLICE(SORT_ARRAY(COLLECT_LIST(NAMED_STRUCT(
            'mark', {{ hash(row("e", "e.copy")) }}
{% for m in measures %}
            , 'x{{ loop.index }}', e.{{ m }}
{% endfor %}
        ))), 1, {{ rows }}) AS l
    FROM each AS e
    GROUP BY e.person, e.cell
)
, counted AS (
    SELECT l.person AS person, l.cell AS cell, SIZE(l.l) AS n{% for m in measures %}
        , SIZE(FILTER(l.l, x -> x.x{{ loop.index }} IS NOT NULL)) AS v{{ loop.index }}
        , AGGREGATE(
            l.l, CAST(0 AS BIGINT), (y, x) -> y + COALESCE(x.x{{ loop.index }}, CAST(0 AS BIGINT))
        ) AS s{{ loop.index }}
{% endfor %}
    FROM lists AS l
)
{% else %}
, counted AS (
    SELECT
        k.person AS person
        , k.cell AS cell
        , CASE WHEN SUM(k.many) > {{ rows }} THEN {{ rows }} ELSE SUM(k.many) END AS n
    FROM kinds AS k
    GROUP BY k.person, k.cell
)
{% endif %}
, chosen AS (
    SELECT t.person AS person, EXPLODE(t.cells) AS kept
    FROM (
        SELECT
            c.person AS person
            , SLICE(
                SORT_ARRAY(COLLECT_LIST(NAMED_STRUCT('mark', {{ hash(group("c")) }}, 'cell', c.cell))), 1, {{ groups }}
            ) AS cells
        FROM counted AS c
        GROUP BY c.person
    ) AS t
)
SELECT
    c.cell AS cell
    , COUNT(*) AS persons
    , CAST(SUM(c.n) AS BIGINT) AS n
{% for m in measures %}
    , CAST(SUM(c.v{{ loop.index }}) AS BIGINT) AS v{{ loop.index }}
    , CAST(SUM(c.s{{ loop.index }}) AS BIGINT) AS s{{ loop.index }}
{% endfor %}
FROM counted AS c
JOIN chosen AS h ON h.person = c.person AND h.kept.cell = c.cell
GROUP BY c.cell
ORDER BY c.cell
