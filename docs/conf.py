"""Sphinx configuration; `make docs` turns its warnings into errors."""

from __future__ import annotations

import lanesort

project = "lanesort"
author = "the lanesort authors"
release = lanesort.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.autosummary"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_typehints = "none"
autosummary_generate = False
exclude_patterns = ["_build", "conformance-table.md"]  # the table is included by its page
html_theme = "furo"
html_title = "lanesort"
