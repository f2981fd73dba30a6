-- name: history/few
-- params: few (table to make), sets (table), groups (columns), person (column), fewest
-- returns: the columns of groups: every group of fewer than that many different persons
CREATE {{ few | scratch }} AS
SELECT {% for name in groups %}{{ ", " if not loop.first }}t.{{ name | ident }} AS {{ name | ident }}{% endfor %}

FROM {{ sets | table }} AS t
GROUP BY {% for name in groups %}{{ ", " if not loop.first }}t.{{ name | ident }}{% endfor %}

HAVING COUNT(DISTINCT t.{{ person | ident }}) < {{ fewest }}
