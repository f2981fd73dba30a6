-- name: noisy/bounded
-- params: bounded (table to make), coded (table, as noisy/coded makes it), columns (list of {code
--   (alias), size (how many groups)}), needed (aliases of codes that a counted row has), number (of the
--   table), measures (aliases of values), groups, rows (how many groups of a person, and rows of each)
-- returns: person text, cell bigint (the finest group), n bigint (rows), and per measure v1.. bigint
--   (numbers of values) and s1.. bigint (sums): of each person at most so many cells of at most so
--   many rows each. Which ones follows from a hash, keyed with :secret, of the person's own rows alone
{% macro hash(text) %}SHA256(CAST(:secret AS VARCHAR) || {{ text }}){% endmacro %}
{% macro cell() %}
{% for c in columns %}{{ "(" if not loop.last }}{% endfor %}
{% for c in columns %}
{% if loop.first %}
CAST(k.{{ c.code }} AS BIGINT)
{% else %}
* {{ c.size }} + k.{{ c.code }})
{% endif %}
{% endfor %}
{% endmacro %}
{% macro own(r) %}'/{{ number }}/' || CAST({{ r }}.cell AS VARCHAR) || '/' || {{ r }}.person{% endmacro %}
{% macro group(r) %}'/group' || {{ own(r) }}{% endmacro %}
{% macro row(r, copy) %}
'/row/' || CAST({{ copy }} AS VARCHAR)
{% for m in measures %}
    || '/' || COALESCE(CAST({{ r }}.{{ m }} AS VARCHAR), 'n')
{% endfor %}
    || {{ own(r) }}
{% endmacro %}
CREATE {{ bounded | scratch }} AS
WITH r AS (
    SELECT k.person AS person, {{ cell() }} AS cell{% for m in measures %}, k.{{ m }} AS {{ m }}{% endfor %}

    FROM {{ coded | table }} AS k
    WHERE k.person IS NOT NULL{% for c in columns %} AND k.{{ c.code }} IS NOT NULL{% endfor %}

{% for code in needed %}
        AND k.{{ code }} IS NOT NULL
{% endfor %}
)
{% if measures %}
, copies AS (
    SELECT r.person AS person, r.cell AS cell{% for m in measures %}, r.{{ m }} AS {{ m }}{% endfor %}

        , ROW_NUMBER() OVER (
            PARTITION BY r.person, r.cell{% for m in measures %}, r.{{ m }}{% endfor %} ORDER BY r.cell
        ) AS copy
    FROM r
)
, placed AS (
    SELECT c.person AS person, c.cell AS cell{% for m in measures %}, c.{{ m }} AS {{ m }}{% endfor %}

        , ROW_NUMBER() OVER (
            PARTITION BY c.person, c.cell
            ORDER BY {{ hash(row("c", "c.copy")) }}, c.copy{% for m in measures %}, c.{{ m }}{% endfor %}
        ) AS place
    FROM copies AS c
)
, counted AS (
    SELECT
        p.person AS person
        , p.cell AS cell
        , COUNT(*) AS n
{% for m in measures %}
        , COUNT(p.{{ m }}) AS v{{ loop.index }}
        , COALESCE(SUM(p.{{ m }}), 0) AS s{{ loop.index }}
{% endfor %}
    FROM placed AS p
    WHERE p.place <= {{ rows }}
    GROUP BY p.person, p.cell
)
{% else %}
, counted AS (
    SELECT r.person AS person, r.cell AS cell, LEAST(COUNT(*), {{ rows }}) AS n
    FROM r
    GROUP BY r.person, r.cell
)
{% endif %}
SELECT
    b.person AS person
    , b.cell AS cell
    , CAST(b.n AS BIGINT) AS n
{% for m in measures %}
    , CAST(b.v{{ loop.index }} AS BIGINT) AS v{{ loop.index }}
    , CAST(b.s{{ loop.index }} AS BIGINT) AS s{{ loop.index }}
{% endfor %}
FROM (
    SELECT
        c.person AS person
        , c.cell AS cell
        , c.n AS n
{% for m in measures %}
        , c.v{{ loop.index }} AS v{{ loop.index }}
        , c.s{{ loop.index }} AS s{{ loop.index }}
{% endfor %}
        , ROW_NUMBER() OVER (PARTITION BY c.person ORDER BY {{ hash(group("c")) }}, c.cell) AS place
    FROM counted AS c
) AS b
WHERE b.place <= {{ groups }}
