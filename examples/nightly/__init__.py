"""Thirty nights of one release."""
