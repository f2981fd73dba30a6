-- name: sent/create
-- params: received (table to make)
-- returns: a row a version that the database received from another one; nothing that
--   readers of the view may not see but the marks, which are keyed hashes
CREATE TABLE IF NOT EXISTS {{ received | table }} (
    release TEXT NOT NULL
    , version INTEGER NOT NULL
    , view_schema TEXT
    , view_name TEXT NOT NULL
    , token TEXT NOT NULL
    , status TEXT NOT NULL
    , row_count BIGINT NOT NULL
    , mark TEXT NOT NULL
    , content_mark TEXT NOT NULL
    , received_at TEXT NOT NULL
    , sqlanon TEXT NOT NULL
)
