-- name: frozen/erased_keys
-- params: made (table to make), keys (rows with a key), erased (the table of earlier ones, or none)
-- returns: _sqlanon_key: hashes of all keys that are never published again
CREATE {{ made | scratch }} AS
SELECT k.person AS _sqlanon_key
FROM {{ keys | table }} AS k
{% if erased %}
UNION
SELECT e._sqlanon_key AS _sqlanon_key
FROM {{ erased | table }} AS e
{% endif %}
