-- name: verify/fingerprint
-- hash_record_extended adds up its columns' hashes, each times a constant: a sum of it over rows would
-- not see values that change places between rows. Hashing it once more does (as numeric: the hash of a
-- bigint keeps 32 bits of it). Columns of a type with operators of its own are hashed as text: by
-- those operators values of other bytes may be equal (citext), and hash_record_extended calls a hash
-- function that is not written in C with a seed that may be NULL (seen with PostgreSQL 18). NULL has
-- the hash of 0.0, and of the numerics NaN and infinity: floats and numerics say which they are.
{% from "postgres/verify/hashed.jinja" import hashed %}
SELECT
    COUNT(*) AS n
    , CAST(COALESCE(SUM(hash_numeric_extended(CAST(hash_record_extended(ROW(
        hash_record_extended(ROW(
{% for c in published if c.source == "r" %}
            {{ ", " if not loop.first }}{{ hashed("t." ~ (c.name | ident), c.as_text, c.kind) }}
{% endfor %}
        ), 0)
{% for c in published if c.source == "s" %}
        , {{ hashed("t." ~ (c.name | ident), c.as_text, c.kind) }}
{% endfor %}
    ), 0) AS numeric), 0)), 0) AS text) AS mark
FROM {{ target | table }} AS t
