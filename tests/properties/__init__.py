"""Laws that hold for any table, checked on random ones."""
