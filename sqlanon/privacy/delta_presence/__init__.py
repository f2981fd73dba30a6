"""delta-presence (Nergiz, Atzori and Clifton 2007)."""
