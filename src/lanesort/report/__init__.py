"""Reports: tables, traces and drawings of what models and plans did."""
