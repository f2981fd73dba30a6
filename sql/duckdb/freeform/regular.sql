{% extends "core/freeform/regular.sql" %}
-- Pairs are counted within the groups of the rows: a table of all of them would be k times as large.
{% block counts %}
    r.edges AS edges, r.pairs AS pairs
{% endblock %}
{% block sums %}
{% if end == "slot" %}
        , CAST(COALESCE(SUM(g.n), 0) AS BIGINT) AS edges
        , CAST(COALESCE(SUM(LIST_UNIQUE(g.found)), 0) AS BIGINT) AS pairs
{% endif %}
{% endblock %}
{% block lists %}{{ ", LIST(e.box) AS found" if end == "slot" }}{% endblock %}
