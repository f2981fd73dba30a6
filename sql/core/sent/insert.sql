-- name: sent/insert
-- params: received (table)
-- returns: nothing
INSERT INTO {{ received | table }} (
    release, version, view_schema, view_name, token, status, row_count, mark, content_mark, received_at, sqlanon
)
SELECT
    :release
    , :version
    , :view_schema
    , :view_name
    , :token
    , :status
    , :row_count
    , :mark
    , :content_mark
    , :received_at
    , :sqlanon
