-- name: noisy/again
-- params: coded (table, as noisy/coded makes it), columns (list of {code (alias), size (how
--   many groups)}), needed (aliases of codes that a counted row has), number (of the table),
--   measures (aliases of values), groups, rows (how many groups of a person, and rows of each)
-- returns: cell, persons, n, and per measure v1.. and s1.., all bigint, by cell: the sums of
--   what noisy/bounded makes, written once more with ordered lists in place of numbered rows
{% if hash is not defined %}
{% macro hash(text) %}SHA256(CAST(:secret AS {{ dialect.text }}) || {{ text }}){% endmacro %}
{% endif %}
{% macro own(r) %}'/{{ number }}/' || CAST({{ r }}.cell AS {{ dialect.text }}) || '/' || {{ r }}.person{% endmacro %}
{% macro group(r) %}'/group' || {{ own(r) }}{% endmacro %}
{% macro row(r, copy) %}
'/row/' || CAST({{ copy }} AS {{ dialect.text }})
{% for m in measures %}
    || '/' || COALESCE(CAST({{ r }}.{{ m }} AS {{ dialect.text }}), 'n')
{% endfor %}
    || {{ own(r) }}
{% endmacro %}
{% if first is not defined %}
{% macro first(values, order, most) %}LIST_SLICE(LIST({{ values }} ORDER BY {{ order }}), 1, {{ most }}){% endmacro %}
{% endif %}
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
, marked AS (
    SELECT k.person AS person, k.cell AS cell{% for m in measures %}, k.{{ m }} AS {{ m }}{% endfor %}

        , {{ hash(row("k", "u.copy")) }} AS mark
    FROM kinds AS k, {% block copies %}LATERAL (SELECT UNNEST(RANGE(1, k.many + 1)) AS copy) AS u{% endblock %}
)
, lists AS (
    SELECT
        m.person AS person
        , m.cell AS cell
{% for m in measures %}
        , {{ first('m.' ~ m, 'm.mark', rows) }} AS l{{ loop.index }}
{% endfor %}
        , LEAST(COUNT(*), {{ rows }}) AS n
    FROM marked AS m
    GROUP BY m.person, m.cell
)
, counted AS (
    SELECT l.person AS person, l.cell AS cell, l.n AS n{% for m in measures %}
        , {% block number scoped %}LIST_AGGREGATE(l.l{{ loop.index }}, 'count'){% endblock %} AS v{{ loop.index }}
        , {% block sum scoped %}COALESCE(LIST_SUM(l.l{{ loop.index }}), 0){% endblock %} AS s{{ loop.index }}
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
    SELECT t.person AS person, UNNEST(t.cells) AS cell
    FROM (
        SELECT c.person AS person, {{ first('c.cell', hash(group("c")), groups) }} AS cells
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
JOIN chosen AS h ON h.person = c.person AND h.cell = c.cell
GROUP BY c.cell
ORDER BY c.cell
