-- name: table/decoded
-- params: classed (table or view to make), assign (table of rid, class and words), columns
--   (list of {alias, domain, word, shift, mask}), codes (list of {code, word, shift,
--   mask}), link (as in table/classed; none: the column link of assign)
-- returns: what table/classed does, without a join with the staged rows: their values are
--   found by the codes in the words
CREATE {{ classed | scratch }} AS
SELECT
    s.*
{% if link %}
    , {{ link | link_of("s") }} AS link
{% endif %}
FROM (
    SELECT
        a.class AS class
        , a.rid AS rid
{% for column in columns %}
        , d{{ loop.index }}.value AS {{ column.alias }}
{% endfor %}
{% if not link %}
        , a.link AS link
{% endif %}
{% for column in codes %}
        , CAST((a.{{ column.word }} >> {{ column.shift }}) & {{ column.mask }} AS INTEGER) AS {{ column.code }}
{% endfor %}
    FROM {{ assign | table }} AS a
{% for column in columns %}
    JOIN {{ column.domain | table }} AS d{{ loop.index }}
        ON d{{ loop.index }}.code = CAST((a.{{ column.word }} >> {{ column.shift }}) & {{ column.mask }} AS INTEGER)
{% endfor %}
) AS s
