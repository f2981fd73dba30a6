-- name: functions/hilbert_key
-- params: schema (as SQL)
-- returns: nothing
-- hilbert_key(cells integer[], bits integer) -> bigint: where a point of a grid lies on the Hilbert curve (Skilling's
-- transform, 2004). A cell is 0 to 2^bits - 1; 1 to 62 cells; bits 1 to 31; a key of more than 63 bits does not fit:
-- use hilbert_key_bytes. NULL if cells, one of them, or bits is NULL; an error for anything else outside.
CREATE OR REPLACE FUNCTION {{ schema }}.hilbert_key(cells integer[], bits integer) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000
SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
    n CONSTANT integer := cardinality(cells);
    first CONSTANT integer := coalesce(array_lower(cells, 1), 1);
    wide integer;
    word bigint := 0;
    lower_bits bigint;
    key bigint := 0;
BEGIN
    IF num_nulls(VARIADIC cells) > 0 THEN
        RETURN NULL;
    ELSIF bits NOT BETWEEN 1 AND 31 THEN
        RAISE 'hilbert_key: bits must be 1 to 31' USING ERRCODE = 'invalid_parameter_value';
    ELSIF n NOT BETWEEN 1 AND 62 OR array_ndims(cells) <> 1 THEN
        RAISE 'hilbert_key: there must be 1 to 62 cells' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    wide := n * bits;
    IF wide > 63 THEN
        RAISE 'hilbert_key: cells times bits is more than 63; use hilbert_key_bytes'
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- The axes side by side in one word, the first lowest.
    FOR i IN REVERSE n - 1 .. 0 LOOP
        IF cells[first + i] < 0 OR cells[first + i] >= 1::bigint << bits THEN
            RAISE 'hilbert_key: every cell must be 0 to 2^bits - 1' USING ERRCODE = 'invalid_parameter_value';
        END IF;
        word := (word << bits) | cells[first + i];
    END LOOP;
    -- On each level, the highest first, an axis with the level's bit mirrors the lower bits of the first axis, an axis
    -- without it swaps them with its own. The level's bits are the key's next, Gray decoded from the front.
    FOR level IN REVERSE bits - 1 .. 0 LOOP
        lower_bits := (1::bigint << level) - 1;
        FOR s IN 0 .. wide - 1 BY bits LOOP
            key := (key << 1) | ((key # (word >> (s + level))) & 1);
            word := CASE WHEN (word >> (s + level)) & 1 = 1 THEN word # lower_bits
                ELSE word # (((word # (word >> s)) & lower_bits) * ((1::bigint << s) | 1)) END;
        END LOOP;
    END LOOP;
    RETURN key;
END
$body$
