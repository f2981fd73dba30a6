"""Anatomy (Xiao and Tao 2006): random groups of l different sensitive values."""
