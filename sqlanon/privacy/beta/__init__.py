"""beta-likeness (Cao and Karras 2012)."""
