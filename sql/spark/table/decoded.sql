-- name: table/decoded
-- params: classed (table or view to make), assign (table of rid, class and words), columns
--   (list of {alias, domain, word, shift, mask}), codes (list of {code, word, shift,
--   mask}), link (as in table/classed; none: the column link of assign)
-- returns: what table/classed does, without a join with the staged rows: their values are
--   found by the codes in the words
-- A view: to write the rows once more takes longer than to find their values in arrays whenever they are read, and
-- most statements read few of the columns. Structs are collected, as an aggregate of values would leave NULL out, and
-- the arrays hold their values: Spark makes an object for each struct that it reads.
CREATE TEMPORARY VIEW {{ classed.name | ident }} AS
SELECT
    s.*
{% if link %}
    , XXHASH64(
        {% for alias, _ in link %}{{ ", " if not loop.first }}s.{{ alias }}{% endfor %}
{% for alias, _ in link %}
        , s.{{ alias }} IS NULL
{% endfor %}
    ) AS link
{% endif %}
FROM (
    SELECT
        a.class AS class
        , a.rid AS rid
{% for column in columns %}
        , ELEMENT_AT(
            (
                SELECT TRANSFORM(ARRAY_SORT(COLLECT_LIST(STRUCT(d.code AS code, d.value AS value))), e -> e.value)
                FROM {{ column.domain | table }} AS d
            )
            , CAST(SHIFTRIGHT(a.{{ column.word }}, {{ column.shift }}) & {{ column.mask }} AS INT) + 1
        ) AS {{ column.alias }}
{% endfor %}
{% if not link %}
        , a.link AS link
{% endif %}
{% for column in codes %}
        , CAST(SHIFTRIGHT(a.{{ column.word }}, {{ column.shift }}) & {{ column.mask }} AS INT) AS {{ column.code }}
{% endfor %}
    FROM {{ assign | table }} AS a
) AS s
