-- name: functions/overlap
-- params: schema (as SQL)
-- returns: nothing
-- overlap(lo, hi, a, b) -> double precision: the part of the values from lo to hi that lies from a to
-- b, all ends included, 0 to 1. The arguments have one type, which decides: integers and dates are
-- counted, other numbers and timestamps measured; one value is in or out. NULL if an argument is NULL.
CREATE OR REPLACE FUNCTION {{ schema }}.overlap(lo anycompatible, hi anycompatible, a anycompatible, b anycompatible)
RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100
SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
    kind CONSTANT text := pg_typeof(lo)::text;
    wide double precision;
    part double precision;
    step CONSTANT integer := CASE WHEN kind IN ('smallint', 'integer', 'bigint', 'date') THEN 1 ELSE 0 END;
BEGIN
    IF a > hi OR b < lo OR a > b THEN
        RETURN 0;
    ELSIF hi = lo THEN
        RETURN 1;
    ELSIF kind LIKE 'timestamp%' THEN
        wide := extract(epoch FROM hi - lo);
        part := extract(epoch FROM least(hi, b) - greatest(lo, a));
    ELSIF kind = 'date' THEN
        wide := hi - lo;
        part := least(hi, b) - greatest(lo, a);
    ELSE
        wide := hi::double precision - lo::double precision;
        part := least(hi, b)::double precision - greatest(lo, a)::double precision;
    END IF;
    RETURN (part + step) / (wide + step);
END
$body$
