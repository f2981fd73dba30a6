-- name: verify/marks
-- params: marks (table to make), released (table), names (all published QI-derived columns,
--   in order), own (those whose type has operators of its own: verify/fingerprint), kinds
--   (of columns, by name)
-- returns: class, mark: a hash of what is published for the class, made once a class and not once a row
CREATE {{ marks | scratch }} AS
SELECT
    r._sqlanon_class AS class
    , HASH({% for name in names %}{{ ", " if not loop.first }}r.{{ name | ident }}{% endfor %}) AS mark
FROM {{ released | table }} AS r
