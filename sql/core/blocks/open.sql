-- name: blocks/open
-- params: placed (table of rid, words, block and open), words (columns)
-- returns: block integer, rid, the words: the rows of partitions that are open, each of which is a block
SELECT p.block AS block, p.rid AS rid{% for word in words %}, p.{{ word }} AS {{ word }}{% endfor %}

FROM {{ placed | table }} AS p
WHERE p.open = 1
