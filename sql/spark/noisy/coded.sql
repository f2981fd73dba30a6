{% extends "core/noisy/coded.sql" %}
