-- name: frozen/create_erased
-- params: erased (table to make)
-- returns: an empty list of hashes of keys that are never published again
CREATE TABLE {{ erased | table }} (
    _sqlanon_key TEXT
    , erased_at TEXT
    , listed_by TEXT
)
