-- name: functions/hilbert_key_bytes
-- params: schema (as SQL)
-- returns: nothing
-- hilbert_key_bytes(cells integer[], bits integer) -> bytea: the key of hilbert_key at any length, as
-- ceil(cells * bits / 8) bytes, the highest first, so that keys of one grid sort as bytes. A cell is 0 to 2^bits - 1;
-- 1 to 62 cells; bits 1 to 31. NULL if cells, one of them, or bits is NULL; an error for anything else outside.
CREATE OR REPLACE FUNCTION {{ schema }}.hilbert_key_bytes(cells integer[], bits integer) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 2000
SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
    n CONSTANT integer := cardinality(cells);
    x integer[] := cells[:]; -- a slice counts from 1
    lower_bits integer;
    front integer;
    swap integer;
    digit integer;
    byte integer := 0;
    filled integer; -- bits, from the key's leading zero bits on
    key bytea := '';
BEGIN
    IF num_nulls(VARIADIC cells) > 0 THEN
        RETURN NULL;
    ELSIF bits NOT BETWEEN 1 AND 31 THEN
        RAISE 'hilbert_key_bytes: bits must be 1 to 31' USING ERRCODE = 'invalid_parameter_value';
    ELSIF n NOT BETWEEN 1 AND 62 OR array_ndims(cells) <> 1 THEN
        RAISE 'hilbert_key_bytes: there must be 1 to 62 cells' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    FOR i IN 1 .. n LOOP
        IF x[i] < 0 OR x[i] >= 1::bigint << bits THEN
            RAISE 'hilbert_key_bytes: every cell must be 0 to 2^bits - 1' USING ERRCODE = 'invalid_parameter_value';
        END IF;
    END LOOP;
    -- On each level, the highest first, an axis with the level's bit mirrors the lower bits of the first axis, an axis
    -- without it swaps them with its own. The level's bits are the key's next, Gray decoded from the front.
    filled := (8 - n * bits % 8) % 8;
    FOR level IN REVERSE bits - 1 .. 0 LOOP
        lower_bits := (1 << level) - 1;
        front := x[1];
        FOR i IN 1 .. n LOOP
            digit := (x[i] >> level) & 1;
            byte := ((byte << 1) & 255) | ((byte # digit) & 1);
            filled := filled + 1;
            IF filled % 8 = 0 THEN
                key := key || substring(int4send(byte), 4);
            END IF;
            IF digit = 1 THEN
                front := front # lower_bits;
            ELSE
                swap := (front # x[i]) & lower_bits;
                front := front # swap;
                x[i] := x[i] # swap;
            END IF;
        END LOOP;
        x[1] := front;
    END LOOP;
    RETURN key;
END
$body$
