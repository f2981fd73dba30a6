{#
    Every class, the rows that look alike in all quasi-identifiers, has at least k rows.

    quasi_identifiers: every column of the relation that comes from a quasi-identifier, as SQL names it (quote odd
        names)
    k: a whole number of at least 1

    Fails with the number of rows in smaller classes. What is stored of a failure are sizes and counts, never a value.
    NULLs count as one value, as GROUP BY has it.
#}
{% test k_anonymity(model, quasi_identifiers, k) %}
    {{ config(fail_calc='coalesce(sum(failing_rows), 0)') }}
    {%- set columns = sqlanon.columns_argument('k_anonymity', 'quasi_identifiers', quasi_identifiers) %}
    {%- set least = sqlanon.whole_argument('k_anonymity', 'k', k) %}

with classes as (

    select {{ columns | join(', ') }}, count(*) as class_rows
    from {{ model }}
    group by {{ columns | join(', ') }}

)

select class_rows, count(*) as failing_classes, sum(class_rows) as failing_rows
from classes
where class_rows < {{ least }}
group by class_rows

{% endtest %}
