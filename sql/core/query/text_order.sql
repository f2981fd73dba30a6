-- name: query/text_order
-- params: none
-- returns: bytes boolean: whether text compares by bytes here, as releases order it; every other order puts a before B
SELECT NOT ('a' < 'B') AS bytes
