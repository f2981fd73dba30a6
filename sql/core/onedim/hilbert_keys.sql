-- name: onedim/hilbert_keys
-- params: keyed (table to make), cells (table of rid and a cell per axis), axes (its columns, in the
--   order of the curve's axes), bits (of a cell), functions (schema of the stored functions, as SQL)
-- returns: rid, key0 bigint: where every row lies on the Hilbert curve
CREATE {{ keyed | scratch }} AS
SELECT
    c.rid AS rid
    , {{ functions }}.hilbert_key(
        [{% for axis in axes %}{{ ", " if not loop.first }}c.{{ axis }}{% endfor %}], {{ bits }}
    ) AS key0
FROM {{ cells | table }} AS c
