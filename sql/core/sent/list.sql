-- name: sent/list
-- params: received (table)
-- returns: release, version, view_schema, view_name, token, status, row_count, mark,
--   content_mark, received_at, sqlanon of every version that was received and has tables
SELECT
    r.release
    , r.version
    , r.view_schema
    , r.view_name
    , r.token
    , r.status
    , r.row_count
    , r.mark
    , r.content_mark
    , r.received_at
    , r.sqlanon
FROM {{ received | table }} AS r
ORDER BY r.received_at, r.release, r.version
