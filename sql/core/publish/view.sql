-- name: publish/view
-- params: view (to make or replace), physical (table), columns (names)
-- returns: the public view
CREATE OR REPLACE VIEW {{ view | table }} AS
SELECT {% for c in columns %}{{ ", " if not loop.first }}t.{{ c | ident }} AS {{ c | ident }}{% endfor %}

FROM {{ physical | table }} AS t
