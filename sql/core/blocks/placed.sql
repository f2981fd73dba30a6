-- name: blocks/placed
-- params: rows (table), columns (of it: rid, words, carried columns), tree (lists of an integer for each node: word
--   (place in words), shift, mask, cut, below, name, spread, and part, or none), words (columns), levels (of the tree),
--   root (node)
-- returns: block integer, the columns; with part: part integer
-- A row goes down from node to node, one a level: to the first half of the node's rows, below, or, where its code is
-- above the cut, to the node after that. Leaves have themselves below, and no row above the cut.
{% macro of_node(list) %}(ARRAY[{{ list | join(", ") }}])[t.node]{% endmacro %}
{% macro listed(alias) %}{% for column in columns %}{{ alias }}.{{ column }} AS {{ column }}, {% endfor %}{% endmacro %}
SELECT
    CAST({{ of_node(tree.name) }} + MOD(t.rid, {{ of_node(tree.spread) }}) AS INTEGER) AS block
{% for column in columns %}
    , t.{{ column }} AS {{ column }}
{% endfor %}
{% if tree.part %}
    , {{ of_node(tree.part) }} AS part
{% endif %}
FROM (
{% for _ in range(levels) %}
    SELECT
        {{ listed("t") }}
        {{ of_node(tree.below) }} + CASE
            WHEN ((
{% if words | length > 1 %}
                CASE {{ of_node(tree.word) }}
{% for word in words %}
                    {{ "ELSE" if loop.last else "WHEN %s THEN" | format(loop.index0) }} t.{{ word }}
{% endfor %}
                END
{% else %}
                t.{{ words[0] }}
{% endif %}
                >> {{ of_node(tree.shift) }}) & {{ of_node(tree.mask) }}) > {{ of_node(tree.cut) }} THEN 1
            ELSE 0
        END AS node
    FROM (
{% endfor %}
    SELECT {{ listed("r") }} {{ root }} AS node FROM {{ rows | table }} AS r
{% for _ in range(levels) %}
    ) AS t
{% endfor %}
) AS t
