-- name: blocks/closed
-- params: assigned (table to make), placed (table of rid, words, block and open), solved (table of rid, class and words), words (columns)
-- returns: rid, class integer, the words: of rows of open partitions the classes that these are divided in; a partition that cannot be cut
--   is a class, named as it is: by the rows before it
CREATE {{ assigned | scratch }} AS
SELECT p.rid AS rid, p.block AS class{% for word in words %}, p.{{ word }} AS {{ word }}{% endfor %}

FROM {{ placed | table }} AS p
WHERE p.open = 0
UNION ALL
SELECT s.rid AS rid, s.class AS class{% for word in words %}, s.{{ word }} AS {{ word }}{% endfor %}

FROM {{ solved | table }} AS s
