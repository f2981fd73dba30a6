{#
    What the tests ask of their arguments: with a wrong one a test ends with an error, instead of passing and testing
    nothing. While dbt only parses, nothing is asked and something harmless returned, so that one wrong test does not
    stop the others.
#}

{% macro columns_argument(test, argument, given) %}
    {%- if not execute %}{{ return(['parsed']) }}{% endif %}
    {%- set names = [given] if given is string else given %}
    {%- if names is none or names is mapping or names is not iterable or names | length == 0 %}
        {{ exceptions.raise_compiler_error(test ~ ': ' ~ argument
            ~ ' is a column or a list of columns, at least one') }}
    {%- endif %}
    {%- for name in names %}
        {%- if name is not string or not name | trim %}
            {{ exceptions.raise_compiler_error(test ~ ': ' ~ argument
                ~ ' holds something that is not the name of a column') }}
        {%- endif %}
    {%- endfor %}
    {{ return(names | list) }}
{% endmacro %}

{% macro whole_argument(test, argument, given) %}
    {%- if not execute %}{{ return(1) }}{% endif %}
    {%- if given is boolean or given is not integer or given < 1 %}
        {{ exceptions.raise_compiler_error(test ~ ': ' ~ argument ~ ' is a whole number of at least 1') }}
    {%- endif %}
    {{ return(given) }}
{% endmacro %}

{# A number as two whole ones: 3 is (3, 1), 2.5 is (25, 10), "5/2" is (5, 2). #}
{% macro fraction_argument(test, argument, given) %}
    {%- if not execute %}{{ return((1, 1)) }}{% endif %}
    {%- set found = modules.re.fullmatch('([0-9]{1,9})(?:[.]([0-9]{1,6})|/([0-9]{1,9}))?', given | string) %}
    {%- if given is boolean or not found or (found.group(3) and found.group(3) | int == 0) %}
        {{ exceptions.raise_compiler_error(test ~ ': ' ~ argument
            ~ ' is a number such as 3 or 2.5, or a fraction such as "5/2"') }}
    {%- endif %}
    {%- set digits = found.group(2) or '' %}
    {%- set over, under = (found.group(1) ~ digits) | int,
        found.group(3) | int if found.group(3) else 10 ** (digits | length) %}
    {%- if over < under %}
        {{ exceptions.raise_compiler_error(test ~ ': ' ~ argument ~ ' is at least 1') }}
    {%- endif %}
    {{ return((over, under)) }}
{% endmacro %}

{# Names without their quotes, in lower case. #}
{% macro lower_names(names) %}
    {%- set plain = [] %}
    {%- for name in names %}
        {%- do plain.append(name | trim | replace('"', '') | replace('`', '') | lower) %}
    {%- endfor %}
    {{ return(plain) }}
{% endmacro %}
