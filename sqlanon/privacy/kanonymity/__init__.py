"""k-anonymity (Samarati and Sweeney 1998)."""
