"""Fuzz targets: functions named ``fuzz_…`` in ``target_*.py``, and what runs them."""
