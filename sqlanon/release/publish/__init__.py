"""From classes to what readers see: tables written and verified, views swapped; versions returned, withdrawn, dropped."""
