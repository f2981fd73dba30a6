{#
    Requirements of `privacy` beyond k and l: what sqlanon's docs/models.md defines, counted in SQL. A value is for
    every sensitive column, or a mapping of sensitive columns to values. The release is all rows of the relation. Where
    a logarithm decides, equal to the ninth digit counts as equal.
#}

{% macro requirement_entropy_l(model, columns, sensitive, joint, asked) %}
    {%- set parts = [] %}
    {%- for one in sqlanon.asked_places('entropy_l', columns, sensitive, asked, [], joint) %}
        {%- set over, under = sqlanon.number_argument('entropy_l', one.asked, least=1) %}
        {%- set n, rows = sqlanon.real('value_rows'), sqlanon.real('max(in_class)') %}
        {%- do parts.append(sqlanon.failing_groups(model, one.columns, one.value,
            'sum(' ~ n ~ ' * ln(' ~ n ~ ')) > ' ~ rows ~ ' * (ln(' ~ rows ~ ') - ln(' ~ sqlanon.real(over / under)
                ~ ') + 0.000000001)')) %}
    {%- endfor %}
    {{- parts | join('\n    union all\n    ') -}}
{% endmacro %}

{% macro requirement_recursive_cl(model, columns, sensitive, joint, asked) %}
    {%- set parts = [] %}
    {%- for one in sqlanon.asked_places('recursive_cl', columns, sensitive, asked, ['c', 'l'], joint) %}
        {%- set over, under = sqlanon.number_argument('recursive_cl', sqlanon.field('recursive_cl', one.asked, 'c'),
            above=0) %}
        {%- set least = sqlanon.whole_argument('privacy', 'l of recursive_cl',
            sqlanon.field('recursive_cl', one.asked, 'l')) %}
        {%- do parts.append(sqlanon.failing_groups(model, one.columns, one.value,
            'max(value_rows) * ' ~ under ~ ' >= coalesce(sum(case when place >= ' ~ least
                ~ ' then value_rows end), 0) * ' ~ over)) %}
    {%- endfor %}
    {{- parts | join('\n    union all\n    ') -}}
{% endmacro %}

{% macro requirement_alpha(model, columns, sensitive, joint, asked) %}
    {%- set parts = [] %}
    {%- for one in sqlanon.asked_places('alpha', columns, sensitive, asked, ['max', 'values'], joint) %}
        {%- set over, under = sqlanon.number_argument('alpha', sqlanon.field('alpha', one.asked, 'max'), above=0,
            most=1) %}
        {%- set listed = sqlanon.field('alpha', one.asked, 'values', []) %}
        {%- set asked_about = '1 = 1' %}
        {%- if listed %}
            {%- set texts = [] %}
            {%- for text in listed %}{% do texts.append("'" ~ (text | string | replace("'", "''")) ~ "'") %}{% endfor %}
            {%- set asked_about = 'cast(sensitive_value as ' ~ dbt.type_string() ~ ') in (' ~ texts | join(', ')
                ~ ')' %}
        {%- endif %}
        {%- do parts.append(sqlanon.failing_groups(model, one.columns, one.value,
            'max(case when ' ~ asked_about ~ ' then value_rows else 0 end) * ' ~ under ~ ' > max(in_class) * '
                ~ over)) %}
    {%- endfor %}
    {{- parts | join('\n    union all\n    ') -}}
{% endmacro %}

{% macro requirement_t(model, columns, sensitive, joint, asked) %}
    {%- set parts = [] %}
    {%- for one in sqlanon.asked_places('t', columns, sensitive, asked, ['max', 'distance']) %}
        {%- set over, under = sqlanon.number_argument('t', sqlanon.field('t', one.asked, 'max'), least=0, most=1) %}
        {%- set distance = sqlanon.field('t', one.asked, 'distance', 'equal') %}
        {%- if distance == 'equal' %}
            {%- set more = 'value_rows * total > in_class * in_whole' %}
            {%- do parts.append(sqlanon.failing_groups(model, one.columns, one.value,
                'sum(case when ' ~ more ~ ' then value_rows * total - in_class * in_whole else 0 end) * ' ~ under
                ~ ' > max(in_class) * max(total) * ' ~ over)) %}
        {%- elif distance == 'ordered' %}
            {%- do parts.append(sqlanon.failing_in_order(model, one.columns, one.value, over, under)) %}
        {%- else %}
            {{ exceptions.raise_compiler_error(
                'privacy: distance of t is equal or ordered here; where it needs a hierarchy, use: '
                ~ 'sqlanon audit --policy') }}
        {%- endif %}
    {%- endfor %}
    {{- parts | join('\n    union all\n    ') -}}
{% endmacro %}

{% macro requirement_beta(model, columns, sensitive, joint, asked) %}
    {%- set parts = [] %}
    {%- for one in sqlanon.asked_places('beta', columns, sensitive, asked, ['basic', 'enhanced']) %}
        {%- if one.asked is not mapping or one.asked | length != 1 %}
            {{ exceptions.raise_compiler_error('privacy: beta is {basic: x} or {enhanced: x}') }}
        {%- endif %}
        {%- set kind = 'enhanced' if 'enhanced' in one.asked else 'basic' %}
        {%- set over, under = sqlanon.number_argument('beta', one.asked[kind], above=0) %}
        {%- set gained = '(value_rows * total - in_class * in_whole) * ' ~ under ~ ' > in_class * in_whole * ' ~ over %}
        {%- if kind == 'enhanced' %}
            {%- set gained = gained ~ ' or ' ~ sqlanon.real('value_rows * total - in_class * in_whole') ~ ' / '
                ~ sqlanon.real('in_class * in_whole')
                ~ ' > ln(' ~ sqlanon.real('total') ~ ' / ' ~ sqlanon.real('in_whole') ~ ') + 0.000000001' %}
        {%- endif %}
        {%- do parts.append(sqlanon.failing_groups(model, one.columns, one.value, 'max(case when ' ~ gained
            ~ ' then 1 else 0 end) = 1')) %}
    {%- endfor %}
    {{- parts | join('\n    union all\n    ') -}}
{% endmacro %}

{% macro requirement_delta_disclosure(model, columns, sensitive, joint, asked) %}
    {%- set parts = [] %}
    {%- for one in sqlanon.asked_places('delta_disclosure', columns, sensitive, asked, ['max', 'absent']) %}
        {%- set over, under = sqlanon.number_argument('delta_disclosure',
            sqlanon.field('delta_disclosure', one.asked, 'max'), above=0) %}
        {%- set absent = sqlanon.field('delta_disclosure', one.asked, 'absent', 'violates') %}
        {%- if absent not in ('violates', 'ignored') %}
            {{ exceptions.raise_compiler_error('privacy: absent of delta_disclosure is violates or ignored') }}
        {%- endif %}
        {%- set factor = sqlanon.real(2 ** ([over / under, 64] | min)) %}
        {%- set own, expected = sqlanon.real('value_rows * total'), sqlanon.real('in_class * in_whole') %}
        {%- set far = own ~ ' >= ' ~ factor ~ ' * ' ~ expected ~ ' or ' ~ own ~ ' * ' ~ factor ~ ' <= ' ~ expected %}
        {%- set fails = 'max(case when ' ~ far ~ ' then 1 else 0 end) = 1' %}
        {%- if absent == 'violates' %}
            {%- set fails = fails ~ ' or count(*) < (select count(*) from (select ' ~ one.value
                ~ ' as sensitive_value from ' ~ model ~ ' group by ' ~ one.value ~ ') as every_value)' %}
        {%- endif %}
        {%- do parts.append(sqlanon.failing_groups(model, one.columns, one.value, fails)) %}
    {%- endfor %}
    {{- parts | join('\n    union all\n    ') -}}
{% endmacro %}

{# The classes over `columns` of which an aggregate over their values holds: of value_rows, place (1: the most
   frequent), in_class, in_whole, total. #}
{% macro failing_groups(model, columns, value, fails) -%}
    select count(*) as failing_classes, coalesce(sum(class_rows), 0) as failing_rows
    from (
        select max(in_class) as class_rows
        from (
            select {{ columns | join(', ') }}, sensitive_value, value_rows,
                row_number() over (partition by {{ columns | join(', ') }} order by value_rows desc) as place,
                sum(value_rows) over (partition by {{ columns | join(', ') }}) as in_class,
                sum(value_rows) over (partition by sensitive_value) as in_whole,
                sum(value_rows) over () as total
            from (
                select {{ columns | join(', ') }}, {{ value }} as sensitive_value, count(*) as value_rows
                from {{ model }}
                group by {{ columns | join(', ') }}, {{ value }}
            ) as sensitive_values
        ) as shares
        group by {{ columns | join(', ') }}
        having {{ fails }}
    ) as classes
{%- endmacro %}

{# t with distance ordered: |i - j| / (m - 1), by the order that the database gives the values, NULL first. #}
{% macro failing_in_order(model, columns, value, over, under) -%}
    {%- set numbered -%}
        select dense_rank() over (order by {{ columns | join(', ') }}) as class_number,
            dense_rank() over (order by case when {{ value }} is null then 0 else 1 end, {{ value }}) as value_number
        from {{ model }}
    {%- endset -%}
    select count(*) as failing_classes, coalesce(sum(class_rows), 0) as failing_rows
    from (
        select max(class_rows) as class_rows
        from (
            select
                c.class_number as class_number,
                c.class_rows as class_rows,
                v.total as total,
                v.different as different,
                sum(coalesce(n.value_rows, 0) * v.total - c.class_rows * v.in_whole)
                    over (partition by c.class_number order by v.value_number rows unbounded preceding) as beyond
            from (select class_number, count(*) as class_rows from ({{ numbered }}) as a group by class_number) as c
            cross join (
                select value_number, in_whole, sum(in_whole) over () as total, count(*) over () as different
                from (
                    select value_number, count(*) as in_whole
                    from ({{ numbered }}) as b
                    group by value_number
                ) as each_value
            ) as v
            left join (
                select class_number, value_number, count(*) as value_rows
                from ({{ numbered }}) as d
                group by class_number, value_number
            ) as n on n.class_number = c.class_number and n.value_number = v.value_number
        ) as moved
        group by class_number
        having sum(abs(beyond)) * {{ under }} > max(class_rows) * max(total) * (max(different) - 1) * {{ over }}
    ) as classes
{%- endmacro %}

{# What is asked of which sensitive column in which classes: a list of {value, columns, asked}. `fields`: of a value
   that is a mapping. #}
{% macro asked_places(requirement, columns, sensitive, asked, fields, joint=false) %}
    {%- if not sensitive %}
        {{ exceptions.raise_compiler_error('privacy: ' ~ requirement ~ ' needs a sensitive column') }}
    {%- endif %}
    {%- if joint and sensitive | length < 2 %}
        {{ exceptions.raise_compiler_error('privacy: joint needs two sensitive columns') }}
    {%- endif %}
    {%- set by_column = asked is mapping and (asked.keys() | reject('in', fields) | list | length > 0 or not asked) %}
    {%- set places, named = [], {} %}
    {%- for name in (asked.keys() if by_column else []) %}
        {%- do named.update({sqlanon.lower_names([name])[0]: asked[name]}) %}
    {%- endfor %}
    {%- for value in sensitive %}
        {%- set name = sqlanon.lower_names([value])[0] %}
        {%- if not by_column or name in named %}
            {%- set own = named.pop(name) if by_column else asked %}
            {%- do places.append({'value': value, 'columns': columns, 'asked': own}) %}
            {%- if joint %}
                {%- do places.append({'value': value,
                    'columns': columns + (sensitive | reject('equalto', value) | list), 'asked': own}) %}
            {%- endif %}
        {%- endif %}
    {%- endfor %}
    {%- if named or not places %}
        {{ exceptions.raise_compiler_error('privacy: ' ~ requirement
            ~ ' names what is no sensitive column of the test, or nothing') }}
    {%- endif %}
    {{ return(places) }}
{% endmacro %}

{# A field of a value; a value that is no mapping is the field `max`. #}
{% macro field(requirement, asked, name, default=none) %}
    {%- set found = asked.get(name, default) if asked is mapping else (asked if name == 'max' else default) %}
    {%- if found is none %}
        {{ exceptions.raise_compiler_error('privacy: ' ~ name ~ ' of ' ~ requirement ~ ' is missing') }}
    {%- endif %}
    {{ return(found) }}
{% endmacro %}

{# A number as two whole ones, as `fraction_argument`, within bounds. #}
{% macro number_argument(requirement, given, least=none, above=none, most=none) %}
    {%- set found = modules.re.fullmatch('([0-9]{1,9})(?:[.]([0-9]{1,6})|/([0-9]{1,9}))?', given | string) %}
    {%- if given is boolean or not found or (found.group(3) and found.group(3) | int == 0) %}
        {{ exceptions.raise_compiler_error('privacy: ' ~ requirement
            ~ ' takes a number such as 3 or 0.25, or a fraction such as "1/3"') }}
    {%- endif %}
    {%- set digits = found.group(2) or '' %}
    {%- set over, under = (found.group(1) ~ digits) | int,
        found.group(3) | int if found.group(3) else 10 ** (digits | length) %}
    {%- if (least is not none and over < least * under) or (above is not none and over <= above * under)
        or (most is not none and over > most * under) %}
        {{ exceptions.raise_compiler_error('privacy: ' ~ requirement
            ~ ' has a number that is too small or too large') }}
    {%- endif %}
    {{ return((over, under)) }}
{% endmacro %}

{# A number of SQL with 53 bits. #}
{% macro real(number) %}{{ return('cast(' ~ number ~ ' as double precision)') }}{% endmacro %}

{#  What lies in a published cell is not read in plain SQL. #}
{% macro requirement_k_map(model, columns, sensitive, joint, asked) %}
    {{ exceptions.raise_compiler_error(
        'privacy: k_map compares with a population, which is not counted here; use: sqlanon audit --policy') }}
{% endmacro %}

{% macro requirement_delta_presence(model, columns, sensitive, joint, asked) %}
    {{ exceptions.raise_compiler_error(
        'privacy: delta_presence compares with a population, which is not counted here; use: sqlanon audit --policy') }}
{% endmacro %}
