-- name: verify/marks
-- params: marks (table to make), released (table), names (all published QI-derived columns, in order), own (those whose type has
--   operators of its own: verify/fingerprint)
-- returns: class, mark: a hash of what is published for the class, made once a class and not once a row
CREATE {{ marks | scratch }} AS
SELECT r._sqlanon_class AS class, hash_record_extended(ROW({% for name in names %}{{ ", " if not loop.first }}{% if name in own %}CAST(r.{{ name | ident }} AS text){% else %}r.{{ name | ident }}{% endif %}{% endfor %}), 0) AS mark
FROM {{ released | table }} AS r
