"""delta-disclosure privacy (Brickell and Shmatikov 2008)."""
