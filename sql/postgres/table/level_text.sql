{% extends "core/table/level_text.sql" %}
