-- name: publish/table
-- That is the order within each file, and the rows of what a reader sees as one class are in one: the
-- place decides which. ORDER BY, for an order of the files too, would have Spark compute the join
-- twice, as it takes a sample of the rows first. Rows are distributed and sorted while they are narrow:
-- what is published for their place is joined afterwards, once, as classes of one place publish the
-- same. A join by hashes, as the hint asks for, keeps the order, and Spark leaves out the sort after it;
-- after any other join it sorts again. It does not ask for hashes of many classes, which Spark never
-- spills. The number of the task keeps Spark from leaving out the sort before the join. In
-- SORT BY Spark looks names up in what is selected first, where a person's column may be called like
-- a table here: so columns that are ordered by are selected under names of ours, and left out again.
-- Where the rows have integers for what they publish, place and integers make one number, which Spark
-- sorts by its bits: rows of two or more columns are compared with each other.
{% set kept = published | selectattr("source", "equalto", "s") | list %}
{% set numbered = kept | selectattr("rank") | list | length == kept | length %}
{% set order %}
{% if numbered %}
_sqlanon_number
{%- else %}
_sqlanon_place
{%- for c in kept %}
, _sqlanon_by{{ loop.index }} NULLS FIRST, _sqlanon_look{{ loop.index }}
{%- endfor %}
{%- endif %}
{% endset %}
CREATE TABLE {{ physical | table }} AS
SELECT {% for c in published %}{{ ", " if not loop.first }}o.{{ c.name | ident }}{% endfor %}

FROM (
    SELECT{{ " /*+ SHUFFLE_HASH(f) */" if hashed }}
        t._sqlanon_place AS _sqlanon_place
{% if numbered %}
        , t._sqlanon_number AS _sqlanon_number
{% endif %}
{% for c in kept %}
        , t._sqlanon_by{{ loop.index }} AS {{ c.name | ident }}
{% if not numbered %}
        , t._sqlanon_by{{ loop.index }} AS _sqlanon_by{{ loop.index }}
        , t._sqlanon_look{{ loop.index }} AS _sqlanon_look{{ loop.index }}
{% endif %}
{% endfor %}
{% for c in published if c.source == "r" %}
        , f.{{ c.column | ident }} AS {{ c.name | ident }}
{% endfor %}
    FROM (
        SELECT d.*, SPARK_PARTITION_ID() AS _sqlanon_task
        FROM (
            SELECT
                p._sqlanon_place AS _sqlanon_place
{% if numbered %}
                , {{ "(" * (kept | length) }}p._sqlanon_place
{%- for c in kept %} * {{ 2 ** c.bits }} + s.{{ c.rank | ident }}){% endfor %} AS _sqlanon_number
{% endif %}
{% for c in kept %}
                , s.{{ c.column | ident }} AS _sqlanon_by{{ loop.index }}
{% if not numbered %}
                ,
{% if c.kind == "other" %}
                    CAST(s.{{ c.column | ident }} AS STRING)
{% elif c.kind == "float" %}
                    CASE WHEN s.{{ c.column | ident }} = 0 THEN CAST(s.{{ c.column | ident }} AS STRING) END
{% else %}
                    0
{% endif %}
                    AS _sqlanon_look{{ loop.index }}
{% endif %}
{% endfor %}
            FROM {{ classed | table }} AS s
            JOIN {{ released | table }} AS p ON p._sqlanon_class = s.class
            DISTRIBUTE BY _sqlanon_place
            SORT BY {{ order }}
        ) AS d
    ) AS t
{% if alone %}
    JOIN {{ released | table }} AS f ON f._sqlanon_place = t._sqlanon_place
{% else %}
    JOIN (
        SELECT r.*, ROW_NUMBER() OVER (PARTITION BY r._sqlanon_place ORDER BY r._sqlanon_class) AS _sqlanon_turn
        FROM {{ released | table }} AS r
    ) AS f ON f._sqlanon_place = t._sqlanon_place AND f._sqlanon_turn = 1
{% endif %}
    WHERE t._sqlanon_task >= 0
    SORT BY {{ order }}
) AS o
