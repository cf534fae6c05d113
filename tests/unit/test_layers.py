"""The layers of the package import each other in one direction only."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHELL = ("journal.hosts", "journal.cli")


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def module(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def under(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


MODULES = sorted([*(ROOT / "journal").rglob("*.py"), *(ROOT / "projections").rglob("*.py")])


def violations(name: str, imported: set[str]) -> list[str]:
    found = []
    for other in imported:
        if under(other, *SHELL) and not under(name, *SHELL):
            found.append(f"{name} imports the shell: {other}")
        if under(other, "projections") and under(name, "journal") and not under(name, *SHELL):
            found.append(f"the core {name} imports {other}")
        if under(other, "eventsourcing") and not under(name, "journal.stores"):
            found.append(f"{name} imports {other}; only store modules may")
        if under(other, "typer", "rich", "click") and not under(name, "journal.cli"):
            found.append(f"{name} imports {other}; only the command line may")
        if under(other, "starweaver") and not under(name, *SHELL):
            found.append(f"{name} imports {other}; only the adapter and the demo may")
    return found


@pytest.mark.parametrize("path", MODULES, ids=module)
def test_imports_go_one_way(path):
    assert violations(module(path), imports(path)) == []


@pytest.mark.parametrize(
    ("name", "imported"),
    [
        ("journal.run", "projections"),
        ("journal.run", "journal.cli.main"),
        ("projections.fold", "journal.hosts.starweaver"),
        ("projections.fold", "eventsourcing.persistence"),
        ("journal.reader", "eventsourcing"),
        ("projections.view", "rich.table"),
        ("journal.journal", "starweaver"),
    ],
)
def test_a_wrong_import_is_noticed(name, imported):
    assert len(violations(name, {imported})) == 1


@pytest.mark.parametrize("path", MODULES, ids=module)
def test_files_stay_small_enough_to_find_ones_way(path):
    assert len(path.read_text().splitlines()) <= 350
