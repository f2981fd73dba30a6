{#
    Every class is diverse in its sensitive values.

    quasi_identifiers: as for k_anonymity
    l: kind frequency: a number of at least 1, or a fraction such as "5/2"; kind distinct: a whole number
    sensitive: the sensitive column; left out where the test is under that column
    kind: frequency (no value makes up more than 1/l of a class) or distinct (at least l different values)

    Fails with the number of rows in classes that are not. What is stored of a failure are counts, never a value.
    A NULL is a value like any other. Everything is compared in whole numbers, so that 2.1 means 21/10.
#}
{% test l_diversity(model, quasi_identifiers, l, sensitive=none, kind='frequency', column_name=none) %}
    {{ config(fail_calc='coalesce(sum(failing_rows), 0)') }}
    {%- set columns = sqlanon.columns_argument('l_diversity', 'quasi_identifiers', quasi_identifiers) %}
    {%- set value = sqlanon.columns_argument('l_diversity', 'sensitive', sensitive or column_name)[0] %}
    {%- if kind == 'distinct' %}
        {%- set over, under = sqlanon.whole_argument('l_diversity', 'l', l), 1 %}
    {%- elif kind == 'frequency' %}
        {%- set over, under = sqlanon.fraction_argument('l_diversity', 'l', l) %}
    {%- elif execute %}
        {{ exceptions.raise_compiler_error('l_diversity: kind is frequency or distinct') }}
    {%- endif %}

with sensitive_values as (

    select {{ columns | join(', ') }}, {{ value }} as sensitive_value, count(*) as value_rows
    from {{ model }}
    group by {{ columns | join(', ') }}, {{ value }}

),

classes as (

    select {{ columns | join(', ') }},
        sum(value_rows) as class_rows,
        max(value_rows) as most_rows,
        count(*) as different_values
    from sensitive_values
    group by {{ columns | join(', ') }}

)

select class_rows, most_rows, different_values, count(*) as failing_classes, sum(class_rows) as failing_rows
from classes
where {{ 'different_values < %s' % over if kind == 'distinct' else 'most_rows * %s > class_rows * %s' % (over, under) }}
group by class_rows, most_rows, different_values

{% endtest %}
