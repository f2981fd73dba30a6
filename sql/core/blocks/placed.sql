-- name: blocks/placed
-- params: rows (table), columns (of it: rid, words, carried columns), tree (lists of an integer for each node: word
--   (place in words), shift, mask, cut, below, name, spread, and part, or none), words (columns), levels (of the tree),
--   root (node), step (of the numbers of blocks)
-- returns: block integer, the columns; with part: part integer
-- A row goes down from node to node, one a level: to the first half of the node's rows, below, or, where its code is
-- above the cut, to the node after that. Leaves have themselves below, and no row above the cut.
-- The rows of a leaf are spread over its blocks as a sample is over all rows (table/work): not by the remainders of row
-- ids, with which codes may recur.
{% macro listed(alias) %}{% for column in columns %}{{ alias }}.{{ column }} AS {{ column }}, {% endfor %}{% endmacro %}
WITH level_0 AS (
    SELECT
        {{ listed("r") }}
{% for list in tree if tree[list] %}
        ARRAY[{{ tree[list] | join(", ") }}] AS {{ list }},
{% endfor %}
        {{ root }} AS node
    FROM {{ rows | table }} AS r
)
{% for level in range(levels) %}
, level_{{ level + 1 }} AS (
    SELECT
        {{ listed("t") }}
{% for list in tree if tree[list] %}
        t.{{ list }} AS {{ list }},
{% endfor %}
        t.below[t.node] + CASE
            WHEN ((
{% if words | length > 1 %}
                CASE t.word[t.node]
{% for word in words %}
                    {{ "ELSE" if loop.last else "WHEN %s THEN" | format(loop.index0) }} t.{{ word }}
{% endfor %}
                END
{% else %}
                t.{{ words[0] }}
{% endif %}
                >> t.shift[t.node]) & t.mask[t.node]) > t.cut[t.node] THEN 1
            ELSE 0
        END AS node
    FROM level_{{ level }} AS t
)
{% endfor %}
SELECT
    CAST((
        t.name[t.node] + ((MOD(CAST(t.rid AS BIGINT) * 1327217884, 2147483647) * t.spread[t.node]) >> 31)
    ) * {{ step }} AS INTEGER) AS block
{% for column in columns %}
    , t.{{ column }} AS {{ column }}
{% endfor %}
{% if tree.part %}
    , t.part[t.node] AS part
{% endif %}
FROM level_{{ levels }} AS t
