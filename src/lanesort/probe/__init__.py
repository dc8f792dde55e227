"""Probes: the smallest programs whose results tell apart what no source fixes, and their reading."""
