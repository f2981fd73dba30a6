{#
    Every class meets what a policy asks for under `privacy`, by the same keys:
    privacy: {k: 5, l: 2, t: {cost: {max: 0.2, distance: ordered}}}.

    quasi_identifiers: as for k_anonymity
    sensitive: the sensitive column or columns; left out where the test is under that column, or where nothing asked is
        about values
    privacy: the requirements by their names, and joint: true for those of values within every combination of the other
        sensitive columns

    A requirement is a macro `requirement_NAME(model, columns, sensitive, joint, asked)`: a select of failing_classes
    and failing_rows. This package has those that sqlanon has; a project may have further ones, for requirements of
    extensions. A key without one is an error, and no test that passes.
    Fails with the number of rows in failing classes, added over the requirements and sensitive columns that they fail.
#}
{% test privacy(model, quasi_identifiers, privacy, sensitive=none, column_name=none) %}
    {{ config(fail_calc='coalesce(sum(failing_rows), 0)') }}
    {%- set columns = sqlanon.columns_argument('privacy', 'quasi_identifiers', quasi_identifiers) %}
    {%- set given = sensitive or column_name %}
    {%- set values = sqlanon.columns_argument('privacy', 'sensitive', given) if given else [] %}
    {%- if execute and (privacy is not mapping or not privacy) %}
        {{ exceptions.raise_compiler_error('privacy: privacy is a mapping such as {k: 5, l: 2}, not an empty one') }}
    {%- endif %}
    {%- set joint = execute and privacy.get('joint', false) %}
    {%- if joint is not boolean %}
        {{ exceptions.raise_compiler_error('privacy: joint is true or false') }}
    {%- endif %}
    {%- set found = [] %}
    {%- for name, asked in (privacy.items() if execute else []) if name != 'joint' %}
        {%- set macro = context.get('requirement_' ~ name) or sqlanon.get('requirement_' ~ name) %}
        {%- if not macro %}
            {{ exceptions.raise_compiler_error(
                'privacy: no macro counts the requirement ' ~ name ~ '. Write requirement_' ~ name
                ~ '(model, columns, sensitive, joint, asked) in the project, or leave the key out and judge it by: '
                ~ 'sqlanon audit --policy'
            ) }}
        {%- endif %}
        {%- do found.append(macro(model, columns, values, joint, asked)) %}
    {%- endfor %}
    {%- if execute and not found %}
        {{ exceptions.raise_compiler_error('privacy: nothing is asked for') }}
    {%- endif %}

select failing_classes, failing_rows
from (

    {{ found | join('\n    union all\n    ') or 'select 0 as failing_classes, 0 as failing_rows' }}

) as judged
where failing_rows > 0

{% endtest %}

{% macro requirement_k(model, columns, sensitive, joint, asked) %}
    {%- set least = sqlanon.whole_argument('privacy', 'k', asked) -%}
    select count(*) as failing_classes, coalesce(sum(class_rows), 0) as failing_rows
    from (select count(*) as class_rows from {{ model }} group by {{ columns | join(', ') }}) as classes
    where class_rows < {{ least }}
{%- endmacro %}

{% macro requirement_l(model, columns, sensitive, joint, asked) %}
    {%- set over, under = sqlanon.fraction_argument('privacy', 'l', asked) -%}
    {{ sqlanon.failing_values('l', model, columns, sensitive, joint, 'most_rows * ' ~ over ~ ' > class_rows * '
        ~ under) }}
{%- endmacro %}

{% macro requirement_distinct_l(model, columns, sensitive, joint, asked) %}
    {%- set least = sqlanon.whole_argument('privacy', 'distinct_l', asked) -%}
    {{ sqlanon.failing_values('distinct_l', model, columns, sensitive, joint, 'different_values < ' ~ least) }}
{%- endmacro %}

{# Of each sensitive column the classes that fail, a condition over class_rows, most_rows and different_values. #}
{% macro failing_values(requirement, model, columns, sensitive, joint, fails) %}
    {%- if not sensitive %}
        {{ exceptions.raise_compiler_error('privacy: ' ~ requirement ~ ' needs a sensitive column') }}
    {%- endif %}
    {%- if joint and sensitive | length < 2 %}
        {{ exceptions.raise_compiler_error('privacy: joint needs two sensitive columns') }}
    {%- endif %}
    {%- set parts = [] %}
    {%- for value in sensitive %}
        {%- do parts.append(sqlanon.failing_of_value(model, columns, value, fails)) %}
        {%- if joint %}
            {%- do parts.append(sqlanon.failing_of_value(model, columns + (sensitive | reject('equalto', value) | list),
                value, fails)) %}
        {%- endif %}
    {%- endfor %}
    {{- parts | join('\n    union all\n    ') -}}
{% endmacro %}

{% macro failing_of_value(model, columns, value, fails) -%}
    select count(*) as failing_classes, coalesce(sum(class_rows), 0) as failing_rows
    from (
        select sum(value_rows) as class_rows, max(value_rows) as most_rows, count(*) as different_values
        from (
            select {{ columns | join(', ') }}, count(*) as value_rows
            from {{ model }}
            group by {{ columns | join(', ') }}, {{ value }}
        ) as sensitive_values
        group by {{ columns | join(', ') }}
    ) as classes
    where {{ fails }}
{%- endmacro %}
