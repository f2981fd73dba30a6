-- name: table/values_of_both
-- params: both (table to make), values (a frequency set), beside (table of a population),
--   column (its column there), as_float (bool)
-- returns: value: each value of either once
CREATE {{ both | scratch }} AS
SELECT v.value AS value FROM {{ values | table }} AS v
UNION
SELECT b.{{ column | ident }}{{ " + 0" if as_float }} AS value FROM {{ beside | table }} AS b
