-- name: verify/signed
-- params: signed (table to make), target, signs (tables), token (column of target), columns (names)
-- returns: the columns of each row, and _sqlanon_sign bigint: what its token is like
CREATE {{ signed | scratch }} AS
SELECT {% for name in columns %}t.{{ name | ident }} AS {{ name | ident }}, {% endfor %}s.sign AS _sqlanon_sign
FROM {{ target | table }} AS t
JOIN {{ signs | table }} AS s ON s.token = t.{{ token | ident }}
