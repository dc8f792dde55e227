"""Engines: the ways of ordering pairs that a model can be run on."""
