-- name: functions/ncp
-- params: schema (as SQL)
-- returns: nothing
-- ncp(lo, hi, first, last) -> double precision: the normalized certainty penalty of a
-- range lo to hi over the domain first to last: (hi - lo) / (last - first), 0 where the
-- domain has one value (Xu et al., 2006). NULL if an argument is NULL.
CREATE OR REPLACE FUNCTION {{ schema }}.ncp(lo anycompatible, hi anycompatible, first anycompatible, last anycompatible)
RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100
SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
    IF last = first THEN
        RETURN 0;
    ELSIF pg_typeof(lo)::text LIKE 'timestamp%' THEN
        RETURN extract(epoch FROM hi - lo)::double precision / extract(epoch FROM last - first)::double precision;
    ELSIF pg_typeof(lo)::text = 'date' THEN
        RETURN (hi - lo)::double precision / (last - first)::double precision;
    END IF;
    RETURN (hi::double precision - lo::double precision) / (last::double precision - first::double precision);
END
$body$
