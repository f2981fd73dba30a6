"""Figures of any table: against papers, plain Python and the other engine."""
