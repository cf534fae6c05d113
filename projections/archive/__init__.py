"""Sealed segments of Parquet that outlive the database: see ARCHIVE.md beside this file.

Needs the extra `archive`; no other package of ours imports this one until it is asked for it.
"""

try:
    import duckdb  # noqa: F401 - whoever reads an archive needs both
    import pyarrow as pa  # noqa: F401
except ImportError as missing:
    raise ImportError("projections.archive needs pip install 'runjournal[archive]'") from missing
