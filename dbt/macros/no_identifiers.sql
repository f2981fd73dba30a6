{#
    A relation holds no identifier: no column of such a name and, given the source, no value of one.

    identifiers: the columns of the source that name persons
    source: the relation that has them, as in ref('stg_patients'); left out: only names are looked at
    ignore: columns of the relation that are not looked at, except for the very name of an identifier: their values
        equal identifiers by chance, as small numbers do, or their names only begin like one

    A column is one of such a name where it is equal to it, whatever the case, or continues it after an underscore, as
    name_lo and name_hi do. Values are compared as text and whole; free text that quotes a name is not found.
    Fails with the number of columns, plus the number of rows per pair of columns that share values. What is stored of a
    failure are names of columns and counts, never a value.
#}
{% test no_identifiers(model, identifiers, source=none, ignore=[]) %}
    {{ config(fail_calc='coalesce(sum(found_rows), 0)') }}
    {%- set names = sqlanon.columns_argument('no_identifiers', 'identifiers', identifiers) %}
    {%- set ignored = sqlanon.lower_names(sqlanon.columns_argument('no_identifiers', 'ignore', ignore)
        if ignore else []) %}
    {%- if execute and model is string %}
        {{ exceptions.raise_compiler_error(
            'no_identifiers looks at the whole relation: it takes no where and no limit') }}
    {%- endif %}
    {%- set released = adapter.get_columns_in_relation(model) if execute else [] %}
    {%- if execute and not released %}
        {{ exceptions.raise_compiler_error('no_identifiers: ' ~ model ~ ' is not there or has no columns') }}
    {%- endif %}
    {%- set found = [] %}
    {%- for column in released %}
        {%- set named = column.name | lower %}
        {%- for name in sqlanon.lower_names(names) %}
            {%- if named == name or (named.startswith(name ~ '_') and named not in ignored) %}
                {%- do found.append(
                    "select '" ~ column.name | replace("'", "''") ~ "' as column_name, '" ~ name | replace("'", "''")
                    ~ "' as identifier, 1 as found_rows"
                ) %}
            {%- endif %}
        {%- endfor %}
        {%- if source is not none and named not in ignored %}
            {%- for name in names %}
                {%- do found.append(sqlanon.rows_with_values_of(model, column, source, name)) %}
            {%- endfor %}
        {%- endif %}
    {%- endfor %}

    {%- if found %}

select column_name, identifier, found_rows
from (

    {{ found | join('\n    union all\n    ') }}

) as looked_at
where found_rows > 0
    {%- else %}

select 1 as found_rows
from (select 1 as nothing) as looked_at
where 1 = 0
    {%- endif %}

{% endtest %}

{% macro rows_with_values_of(model, column, source, name) %}
    {%- set text = dbt.type_string() -%}
    select '{{ column.name | replace("'", "''") }}' as column_name, '{{ name | replace("'", "''") }}' as identifier,
        count(*) as found_rows
    from {{ model }}
    where cast({{ adapter.quote(column.name) }} as {{ text }}) in (
        select cast({{ name }} as {{ text }}) from {{ source }} where {{ name }} is not null
    )
{%- endmacro %}
