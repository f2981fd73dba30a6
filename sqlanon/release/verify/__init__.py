"""Checks of written tables that rely on no method's results and on nothing that a run made of its source but staged rows and boxes."""
