-- name: privacy/below_population
-- params: made (table to make), rows (table with population and outside), groups
--   (columns), count (column), x, y, z, everywhere (bool)
-- returns: the columns of groups: every group where x rows + y population < z, and all of
--   them with everywhere where outside is not 0
CREATE {{ made | scratch }} AS
SELECT {% for name in groups %}{{ ", " if not loop.first }}t.{{ name | ident }} AS {{ name | ident }}{% endfor %}

FROM {{ rows | table }} AS t
WHERE {{ x }} * t.{{ count | ident }} + {{ y }} * t.population < {{ z }}{{ " OR t.outside > 0" if everywhere }}
