-- name: catalog/create
-- params: catalog (table)
-- returns: one row a version of a release; never a cell value: the policy's value lists are hashes
CREATE TABLE IF NOT EXISTS {{ catalog | table }} (
    release TEXT NOT NULL
    , version INTEGER NOT NULL
    , status TEXT NOT NULL
    , view_schema TEXT
    , view_name TEXT
    , file TEXT
    , physical TEXT NOT NULL
    , source TEXT NOT NULL
    , policy TEXT NOT NULL
    , policy_hash TEXT NOT NULL
    , report TEXT NOT NULL
    , seed BIGINT
    , published_at TEXT NOT NULL
    , published_by TEXT NOT NULL
    , sqlanon TEXT NOT NULL
    , fingerprint TEXT
    , source_columns TEXT
    , checked_at TEXT
)
