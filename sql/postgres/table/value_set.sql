-- name: table/value_set
-- params: values (table to make), sets (table), place (of the column in sets, from 1),
--   absent (integer that marks its rows)
-- returns: value, n bigint: as table/values
CREATE {{ values | scratch }} AS
SELECT s.v{{ place }} AS value, s.n AS n
FROM {{ sets | table }} AS s
WHERE s.absent = {{ absent }}
