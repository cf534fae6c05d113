"""A Starweaver session database becomes a journal.

    with Journal.open("runs.db") as journal:
        result = import_database(journal, "starweaver.db")

The database is read with SQLite: the runtime itself is not needed. What each row becomes is
told in `journal.hosts.starweaver_import.mapping`, and what the journal has no place for in
`journal.hosts.starweaver_import.tables`.
"""

from journal.hosts.starweaver_import.importer import import_database
from journal.hosts.starweaver_import.result import ImportResult, NotMapped, RefusedRow

__all__ = [
    "ImportResult",
    "NotMapped",
    "RefusedRow",
    "import_database",
]
