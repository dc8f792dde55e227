"""Tests, one file for each module of the package."""
