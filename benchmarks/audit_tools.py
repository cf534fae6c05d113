"""What tools are asked and what they answer, for the audit's journal."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import accumulate
from typing import Any

from audit_text import Prose

JSON = dict[str, Any]

TOOLS = (
    "read_file",
    "search_web",
    "run_sql",
    "http_get",
    "shell",
    "list_directory",
    "write_file",
    "recall",
    "create_ticket",
    "send_email",
    "deploy",
    "delegate",
)
ZIPF = [1 / rank for rank in range(1, len(TOOLS) + 1)]


FILES = 3000
"""Files there are; some are read far more often than others."""

_HOSTS = ("api.example.com", "billing.example.net", "docs.example.org", "status.example.com")
_FOLDERS = ("src", "tests", "docs", "config", "services/billing", "services/search", "infra")
_ENDINGS = ("py", "ts", "md", "yaml", "sql", "json")
_TABLES = ("orders", "customers", "invoices", "shipments", "refunds", "events")


class Tools:
    """Makes calls of tools and what they return."""

    def __init__(self, dice: random.Random, prose: Prose) -> None:
        self._dice = dice
        self._prose = prose
        self._paths = [self._new_path() for _ in range(FILES)]
        self._popular = list(accumulate(1 / (rank + 5) for rank in range(FILES)))
        self._known: dict[str, str] = {}
        """Contents of the files that were read: they stay the same."""
        self._asks: dict[str, Callable[[], JSON]] = {
            "read_file": self._read_file,
            "search_web": self._search_web,
            "run_sql": self._run_sql,
            "http_get": self._http_get,
            "shell": self._shell,
            "list_directory": self._list_directory,
            "write_file": self._write_file,
            "recall": self._recall,
            "create_ticket": self._create_ticket,
            "send_email": self._send_email,
            "deploy": self._deploy,
            "delegate": self._delegate,
        }
        self._answers: dict[str, Callable[[JSON, int], Any]] = {
            "read_file": self._file,
            "search_web": self._results,
            "run_sql": self._table,
            "http_get": self._reply,
            "shell": self._output,
            "list_directory": self._entries,
            "recall": self._memories,
        }

    def call(self, name: str | None = None) -> JSON:
        """Make a call, of some tool that needs nobody's approval and has no run of its own."""
        chosen = name or self._dice.choices(TOOLS[:-2], ZIPF[:-2])[0]
        identity = f"sw-tool-{self._dice.getrandbits(128):032x}"
        return {"arguments": self._asks[chosen](), "id": identity, "name": chosen}

    def duration(self) -> float:
        """Draw the seconds that a tool takes: mostly few, sometimes minutes."""
        return min(self._dice.lognormvariate(-0.5, 1.6), 180.0)

    def _new_path(self) -> str:
        dice, prose = self._dice, self._prose
        name = f"{prose.word()}_{prose.word()}.{dice.choice(_ENDINGS)}"
        return f"{dice.choice(_FOLDERS)}/{name}"

    def _path(self) -> str:
        return self._dice.choices(self._paths, cum_weights=self._popular)[0]

    def _lines(self, count: int) -> str:
        dice, prose = self._dice, self._prose
        return "\n".join(
            f"{number:4}  {'    ' * dice.randint(0, 2)}{prose.word()} = {prose.word()}"
            f"({dice.randint(0, 999)})  # {' '.join(prose.words(4))}"
            for number in range(1, count + 1)
        )

    def content(self, call: JSON) -> Any:
        """Make what the tool of a call answers."""
        size = 8 if self._dice.random() < 0.03 else 1
        answer = self._answers.get(call["name"])
        if answer is None:
            number = self._dice.randint(1000, 999_999)
            return {"ok": True, "id": f"{call['name'][:4]}-{number}"}
        return answer(call["arguments"], size)

    def _read_file(self) -> JSON:
        return {"path": self._path(), "offset": self._dice.choice((0, 0, 200)), "limit": 200}

    def _search_web(self) -> JSON:
        return {"query": " ".join(self._prose.words(self._dice.randint(2, 7))), "limit": 5}

    def _run_sql(self) -> JSON:
        prose = self._prose
        table, column = self._dice.choice(_TABLES), prose.word()
        sql = f"SELECT id, {column}, total FROM {table} WHERE {column} = '{prose.word()}'"
        return {"sql": f"{sql} ORDER BY id LIMIT {self._dice.randint(1, 50)}"}

    def _http_get(self) -> JSON:
        dice = self._dice
        place = f"{dice.choice(_HOSTS)}/v1/{self._prose.word()}/{dice.randint(1, 99_999)}"
        return {"url": f"https://{place}", "headers": {"accept": "application/json"}}

    def _shell(self) -> JSON:
        word = self._prose.word()
        return {"command": f"grep -rn {word} {self._path()} | head", "cwd": "/srv/app"}

    def _list_directory(self) -> JSON:
        return {"path": self._dice.choice(_FOLDERS)}

    def _write_file(self) -> JSON:
        return {"path": self._path(), "content": self._prose.text(self._dice.randint(10, 60))}

    def _recall(self) -> JSON:
        return {"query": " ".join(self._prose.words(4))}

    def _create_ticket(self) -> JSON:
        prose = self._prose
        return {"title": " ".join(prose.words(6)), "body": prose.text(30), "priority": "P2"}

    def _send_email(self) -> JSON:
        prose = self._prose
        to = f"{prose.word()}@example.com"
        return {"to": [to], "subject": " ".join(prose.words(5)), "body": prose.text(35)}

    def _deploy(self) -> JSON:
        service = self._prose.word()
        return {"service": service, "version": f"1.{self._dice.randint(0, 40)}.0", "env": "prod"}

    def _delegate(self) -> JSON:
        return {"prompt": self._prose.text(20), "subagent_name": "worker"}

    def _file(self, asked: JSON, size: int) -> str:
        path = asked["path"]
        if path not in self._known:
            self._known[path] = self._lines(self._dice.randint(4, 14) * size)
        return self._known[path]

    def _output(self, _asked: JSON, size: int) -> JSON:
        stdout = self._lines(self._dice.randint(1, 6) * size)
        return {"exit_code": 0, "stdout": stdout, "stderr": ""}

    def _table(self, _asked: JSON, size: int) -> JSON:
        dice = self._dice
        rows = [
            [dice.randint(1, 10**6), self._prose.word(), dice.randint(1, 10**6) / 100]
            for _ in range(dice.randint(1, 10) * size)
        ]
        return {"columns": ["id", "name", "total"], "rows": rows, "row_count": len(rows)}

    def _results(self, _asked: JSON, size: int) -> JSON:
        dice, prose = self._dice, self._prose
        hits = (
            {
                "title": " ".join(prose.words(6)),
                "url": f"https://{dice.choice(_HOSTS)}/{prose.word()}/{prose.word()}",
                "snippet": prose.text(18),
            }
            for _ in range(dice.randint(1, 4) * size)
        )
        return {"results": list(hits)}

    def _reply(self, _asked: JSON, size: int) -> JSON:
        dice, prose = self._dice, self._prose
        body = {prose.word(): prose.text(6) for _ in range(dice.randint(2, 6) * size)}
        request = f"{dice.getrandbits(64):x}"
        headers = {"content-type": "application/json", "x-request-id": request}
        return {"status": 200, "headers": headers, "body": body}

    def _entries(self, _asked: JSON, size: int) -> JSON:
        return {"entries": [self._path() for _ in range(self._dice.randint(2, 12) * size)]}

    def _memories(self, _asked: JSON, _size: int) -> JSON:
        return {"memories": [self._prose.text(15) for _ in range(self._dice.randint(0, 3))]}

    def returned(self, call: JSON, seconds: float, error: JSON | None = None) -> JSON:
        """Make the return of a call; with `error`, one that went wrong."""
        timing = {"duration_ms": int(seconds * 1000), "duration_seconds": round(seconds, 9)}
        if error is None:
            content, metadata = self.content(call), timing
        else:
            content = {**error, "success": False, "tool": call["name"]}
            metadata = {**timing, "error_kind": error["kind"], "message": error["message"]}
        return {
            "content": content,
            "is_error": error is not None,
            "metadata": metadata,
            "name": call["name"],
            "tool_call_id": call["id"],
        }

    def error(self, call: JSON) -> JSON:
        """Make the reason why a call failed."""
        kinds = ("tool_error", "timeout", "invalid_arguments", "not_found")
        kind = self._dice.choices(kinds, (6, 2, 1, 3))[0]
        message = {
            "tool_error": f"{call['name']} failed: connection reset by peer",
            "timeout": f"{call['name']} gave no answer within 30 s",
            "invalid_arguments": f"{self._prose.word()}: a number is needed",
            "not_found": f"no such {self._prose.word()}: {self._path()}",
        }[kind]
        return {"error": message, "kind": kind, "message": message}
