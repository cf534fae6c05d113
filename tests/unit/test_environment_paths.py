"""A restored local environment stays inside its directories, whatever is done to them."""

import os
import resource
import stat
from contextlib import suppress

import pytest

from journal.environment import LocalPolicy, LocalProvider
from journal.environment.confined import MAX_LINKS
from journal.errors import FileNotInEnvironment, InvalidRecord, PathRefused, StorageFailed
from journal.records import EnvironmentState
from tests.unit.local_roots import SECRET, attempts, guarded_top, listed, state


@pytest.fixture
def top(tmp_path):
    with guarded_top(tmp_path):
        yield tmp_path


@pytest.fixture
def root(top):
    return top / "root"


@pytest.fixture
def local(root):
    return LocalProvider(state(root), LocalPolicy([root], writable=True))


def refused(local, path, reason, *, but=()):
    for name, attempt in attempts(local, path).items():
        if name not in but:
            with pytest.raises(PathRefused, match=reason):
                attempt()


def test_files_inside_are_read_and_written(local, root):
    local.write_text("new/deep/f", "été")
    assert local.read_text("new/deep/f") == "été"
    assert local.read_bytes(str(root / "new" / "deep" / "f")) == "été".encode()
    assert local.read_text("./sub//f") == "F"
    assert local.names() == ["new", "sub"]
    assert local.names("sub/") == ["f"]
    assert stat.S_ISDIR(local.stat("").st_mode)
    assert local.stat("sub/f").st_size == 1
    local.write_text("sub/f", "shorter than before"[:3])
    assert local.read_text("sub/f") == "sho"
    local.create_dir("d/e")
    local.create_dir("d/e")
    local.move("sub/f", "d/e/g")
    local.copy("d/e/g", "h/i")
    assert (local.read_text("h/i"), local.names("d/e"), local.names("sub")) == ("sho", ["g"], [])
    local.delete("h/i")
    local.delete("d", recursive=True)
    local.delete("sub")
    assert local.names() == ["h", "new"]


def test_what_is_not_there_is_told(local):
    for attempt in (
        lambda: local.read_text("no"),
        lambda: local.read_text("no/f"),
        lambda: local.names("no"),
        lambda: local.stat("no"),
        lambda: local.delete("no"),
        lambda: local.move("no", "x"),
        lambda: local.create_dir("no/d", parents=False),
    ):
        with pytest.raises(FileNotInEnvironment, match=r"'ws' has nothing at 'no"):
            attempt()


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../out/f", r"without `\.\.`"),
        ("sub/../../out/f", r"without `\.\.`"),
        ("sub/../sub/f", r"without `\.\.`"),
        ("..", r"without `\.\.`"),
        ("sub/f\0", "NUL"),
        ("\0", "NUL"),
        ("\ud800", "no file name can hold it"),
        ("/", "outside"),
        ("/etc/passwd", "outside"),
        ("//etc/passwd", "outside"),
        ("/no/such/thing", "outside"),
        ("/proc/self/root/etc/passwd", "outside"),
        ("/proc/self/cwd", "outside"),
        ("/dev/null", "outside"),
    ],
)
def test_paths_that_lead_elsewhere_are_refused_in_every_way(local, path, reason):
    refused(local, path, reason)


def test_absolute_paths_outside_are_refused(local, top):
    refused(local, str(top / "out" / "f"), "outside")
    refused(local, str(top / "out"), "outside")
    refused(local, str(top), "outside")
    refused(local, str(top / "rootless"), "outside")


@pytest.mark.parametrize("target", ["../out", "{top}/out", "../root/../out", "loop/../../out"])
def test_a_link_to_a_directory_outside_is_not_followed(local, root, top, target):
    (root / "loop").mkdir()
    (root / "link").symlink_to(target.format(top=top))
    refused(local, "link/f", "outside")
    refused(local, "link/new", "outside")
    refused(local, "link/no/f", "outside")
    assert "link" in local.names()
    with pytest.raises(PathRefused, match="outside"):
        local.names("link")


def test_a_link_to_a_file_outside_is_never_followed(local, root):
    (root / "link").symlink_to("../out/f")
    refused(local, "link", "outside", but=("delete", "delete_all", "move_from", "move_to"))
    local.move("link", "moved")
    assert (root / "moved").is_symlink()
    with pytest.raises(PathRefused, match="outside"):
        local.read_text("moved")
    local.move("sub/f", "moved", overwrite=True)
    assert local.read_text("moved") == "F"


def test_deleting_a_link_deletes_the_link(local, root):
    (root / "link").symlink_to("../out")
    (root / "sub" / "link").symlink_to("../../out")
    local.delete("link", recursive=True)
    local.delete("sub", recursive=True)
    assert local.names() == []


def test_a_dangling_link_outside_makes_nothing_there(local, root):
    (root / "link").symlink_to("../out/new")
    refused(local, "link", "outside", but=("delete", "delete_all", "move_from", "move_to"))


def test_links_that_stay_inside_are_followed(local, root):
    (root / "file").symlink_to("sub/f")
    (root / "absolute").symlink_to(root / "sub")
    (root / "sub" / "up").symlink_to("..")
    (root / "roundabout").symlink_to("../root/sub/up/sub")
    for path in ("file", "absolute/f", "sub/up/file", "roundabout/f"):
        assert local.read_text(path) == "F"
    local.write_text("absolute/new", "N")
    local.write_text("roundabout/deep/new", "D")
    assert listed(root / "sub") == ["deep", "f", "new", "up"]
    (root / "to come").symlink_to("sub/come")
    local.write_text("to come", "C")
    assert (root / "sub" / "come").read_text() == "C"


def test_a_link_in_a_circle_is_refused(local, root):
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    (root / "self").symlink_to("self/self")
    for path in ("a", "b/f", "self", "self/f"):
        with pytest.raises(PathRefused, match=f"more than {MAX_LINKS} links"):
            local.read_text(path)


def test_a_root_named_by_a_link_is_the_directory_it_led_to_then(top, root):
    (root.parent / "alias").symlink_to("root")
    try:
        policy = LocalPolicy([top / "alias"], writable=True)
        assert policy.allowed_roots == (str(root),)
        local = LocalProvider(state(top / "alias"), policy)
        assert local.roots == (str(root),)
        assert local.read_text(str(top / "alias" / "sub" / "f")) == "F"
        (top / "alias").unlink()
        (top / "alias").symlink_to("out")
        assert local.read_text("sub/f") == "F"
        with pytest.raises(PathRefused, match="outside"):
            local.read_text(str(top / "alias" / "f"))
        with pytest.raises(PathRefused, match="policy allows"):
            LocalProvider(state(top / "alias"), policy)
    finally:
        (top / "alias").unlink()


def test_a_root_swapped_for_a_link_afterwards_leads_nowhere(local, root, top):
    root.rename(top / "away")
    root.symlink_to("out")
    try:
        refused(local, "f", "outside")
        refused(local, "new", "outside")
    finally:
        root.unlink()
        (top / "away").rename(root)


def test_a_root_that_is_gone_is_not_made_again(local, root, top):
    root.rename(top / "away")
    try:
        with pytest.raises(FileNotInEnvironment):
            local.write_text("new/f", "W")
        assert not root.exists()
    finally:
        (top / "away").rename(root)


def test_the_root_itself_stays_where_it_is(local, root):
    for path in ("", ".", str(root)):
        for attempt in (
            lambda path=path: local.delete(path, recursive=True),
            lambda path=path: local.move(path, "sub/x"),
            lambda path=path: local.write_text(path, "W"),
        ):
            with pytest.raises(PathRefused, match=r"stays where it is|no file"):
                attempt()
    with pytest.raises(PathRefused):
        local.move("sub", "", overwrite=True)
    assert local.names() == ["sub"]


@pytest.mark.parametrize("path", ["pipe", "socket", "sub"])
def test_only_files_are_opened_and_nothing_waits(local, root, path):
    os.mkfifo(root / "pipe")
    os.mknod(root / "socket", stat.S_IFSOCK | 0o600)
    for attempt in (local.read_bytes, lambda at: local.write_text(at, "W")):
        with pytest.raises(PathRefused, match="it is no file"):
            attempt(path)


def test_a_second_name_of_a_file_is_not_written_through(local, root, top):
    (root / "hard").hardlink_to(top / "out" / "f")
    with pytest.raises(PathRefused, match="hard link"):
        local.write_text("hard", "W")
    assert (top / "out" / "f").read_text() == SECRET
    local.delete("hard")


def test_nothing_is_written_without_leave(root):
    local = LocalProvider(state(root), LocalPolicy([root]))
    assert local.read_text("sub/f") == "F"
    for name, attempt in attempts(local, "sub/f").items():
        if name in ("read", "stat", "names"):
            continue
        with pytest.raises(PathRefused, match="writable=True"):
            attempt()
    assert listed(root) == ["sub"]


def test_nothing_is_overwritten_without_leave(local):
    local.write_text("there", "T")
    for attempt in (local.move, local.copy):
        with pytest.raises(PathRefused, match=r"overwritten|File exists"):
            attempt("sub/f", "there")
    assert local.read_text("there") == "T"
    local.copy("sub/f", "there", overwrite=True)
    assert local.read_text("there") == "F"


@pytest.mark.parametrize("path", ["f/x", "sub/f/x", "x" * 300])
def test_other_wrong_paths_are_refused_with_the_systems_words(local, root, path):
    (root / "f").write_text("")
    with pytest.raises(PathRefused, match=r"Not a directory|File name too long"):
        local.read_text(path)
    with pytest.raises(PathRefused, match=r"Not a directory|File name too long"):
        local.write_text(path, "W")


def test_bytes_that_are_no_text_are_refused_as_text(local, root):
    (root / "b").write_bytes(b"\xff")
    assert local.read_bytes("b") == b"\xff"
    with pytest.raises(PathRefused, match="no UTF-8 text"):
        local.read_text("b")
    with pytest.raises(PathRefused, match="is no text"):
        local.write_text("b", "\ud800")
    assert local.read_bytes("b") == b"\xff"


def test_a_storage_that_fails_is_no_fault_of_the_path(local):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(StorageFailed, match="cannot use big: File too large"):
            local.write_bytes("big", bytes(2000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_state_that_wants_more_than_the_policy_allows_is_refused(top, root):
    policy = LocalPolicy([root])
    for wanted in ("/", "/etc", str(top), str(top / "out"), f"{root}x", f"{root}/../out"):
        with pytest.raises(PathRefused, match="environment 'ws' wants it, and the host's policy"):
            LocalProvider(state(wanted), policy)
        with pytest.raises(PathRefused, match="host's policy"):
            LocalProvider(state(root, allowed_paths=[str(root), wanted]), policy)
    (root / "link").symlink_to("../out")
    with pytest.raises(PathRefused, match="host's policy"):
        LocalProvider(state(root / "link"), policy)


def test_a_state_reaches_what_it_names_and_not_all_that_is_allowed(top, root):
    policy = LocalPolicy([top])
    narrow = LocalProvider(state(root), policy)
    with pytest.raises(PathRefused, match="outside"):
        narrow.read_text(str(top / "out" / "f"))
    wide = LocalProvider(state(root, allowed_paths=[str(top / "out"), str(root)]), policy)
    assert wide.roots == (str(root), str(top / "out"))
    assert wide.read_text(str(top / "out" / "f")) == SECRET
    (root / "link").symlink_to("../out/f")
    assert wide.read_text("link") == SECRET


@pytest.mark.parametrize("wrong", [None, 5, "", "relative", ["/"]])
def test_a_state_whose_root_is_no_path_is_refused(root, wrong):
    metadata = {"provider_kind": "local", "root": wrong}
    with pytest.raises(InvalidRecord, match=r"environment 'ws' at \$\.metadata\.root"):
        LocalProvider(EnvironmentState(provider_id="ws", metadata=metadata), LocalPolicy([root]))


def test_directories_of_a_state_that_are_no_paths_are_refused(root):
    for wrong, path in (("/", r"\$\.metadata\.allowed_paths:"), ([5], r"allowed_paths\[0\]")):
        with pytest.raises(InvalidRecord, match=path):
            LocalProvider(state(root, allowed_paths=wrong), LocalPolicy([root]))
    assert LocalProvider(state(root, allowed_paths=None), LocalPolicy([root])).names() == ["sub"]


def test_what_is_no_directory_is_no_root(root, top):
    for wrong in (root / "sub" / "f", root / "no", "/a\0b"):
        with pytest.raises(PathRefused, match=r"no directory|NUL"):
            LocalPolicy([wrong])
        with pytest.raises(PathRefused, match=r"no directory|NUL"):
            LocalProvider(state(wrong), LocalPolicy(["/"]))


def test_the_whole_machine_is_a_root_where_the_host_says_so(top):
    local = LocalProvider(state("/"), LocalPolicy(["/"]))
    assert local.read_text(str(top / "out" / "f")) == SECRET
    assert local.names() == listed("/")


def test_the_state_comes_back_as_it_was(local, root):
    assert local.export_state() == state(root).to_json()
    assert (local.provider_id, local.processes, local.resources) == ("ws", (), ())


def test_no_descriptor_is_left_open(local, root):
    (root / "link").symlink_to("../out/f")
    os.mkfifo(root / "pipe")
    for path in ("sub/f", "link", "no/x", "/etc", "pipe", "sub/f/x"):
        for name, attempt in attempts(local, path).items():
            before = len(listed("/proc/self/fd"))
            with suppress(PathRefused, FileNotInEnvironment):
                attempt()
            assert len(listed("/proc/self/fd")) == before, (path, name)
            (root / "sub").mkdir(exist_ok=True)
            (root / "sub" / "f").write_text("F")


def test_a_root_is_never_made_or_replaced_by_another_thing(tmp_path):
    first, second = (tmp_path / "top" / name for name in ("first", "second"))
    first.mkdir(parents=True)
    second.mkdir()
    (first / "d").mkdir()
    (first / "f").write_text("F")
    policy = LocalPolicy([first, second], writable=True)
    local = LocalProvider(state(first, allowed_paths=[str(second)]), policy)
    with pytest.raises(PathRefused, match="stays where it is"):
        local.move("d", str(second), overwrite=True)
    second.rmdir()
    for made in (
        lambda: local.write_text(str(second), "W"),
        lambda: local.move("f", str(second)),
        lambda: local.copy("f", str(second)),
        lambda: local.create_dir(str(second)),
    ):
        with pytest.raises(FileNotInEnvironment):
            made()
    assert listed(tmp_path / "top") == ["first"]


@pytest.mark.parametrize("name", ["a" * 300, "a/" * 3000])
def test_a_root_whose_name_is_too_long_is_refused(root, name):
    with pytest.raises(PathRefused, match="too long"):
        LocalPolicy([root]).roots_of(state(root / name))


def test_an_empty_path_is_no_root():
    with pytest.raises(PathRefused, match="it is empty"):
        LocalPolicy([""])


def test_a_deep_tree_is_removed_with_few_open_files(local, root):
    local.create_dir("deep/" + "/".join("a" * 1500))
    local.write_text("deep/a/f", "F")
    (root / "deep" / "a" / "link").symlink_to("..")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, limits[1]))
    try:
        local.delete("deep", recursive=True)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert local.names() == ["sub"]


def test_a_part_of_a_huge_file_is_read(local, root):
    with (root / "huge").open("wb") as file:
        file.truncate(1 << 40)
        file.seek(1 << 39)
        file.write(b"middle")
    assert local.read_bytes("huge", 1 << 39, 6) == b"middle"
    assert local.read_bytes("huge", (1 << 40) - 2, 6) == b"\0\0"
    assert local.read_bytes("huge", 1 << 70, 1) == b""
    for attempt in (
        lambda: local.read_bytes("huge"),
        lambda: local.read_text("huge"),
        lambda: local.read_bytes("huge", 5, 1 << 35),
        lambda: local.copy("huge", "sub/g"),
    ):
        with pytest.raises(PathRefused, match="bytes are"):
            attempt()
    assert local.names("sub") == ["f"]


@pytest.mark.parametrize("part", [(-1, None), (0, -1)])
def test_a_part_before_the_file_is_refused(local, part):
    with pytest.raises(PathRefused, match="0 or more"):
        local.read_bytes("sub/f", *part)


def test_a_part_ends_with_its_file(local):
    local.write_text("sub/g", "")
    assert local.read_bytes("sub/f", 0, 9) == b"F"
    assert local.read_bytes("sub/f", 1) == b""
    assert local.read_bytes("sub/g", 1, 1) == b""
    assert local.read_bytes("sub/f", 0, 0) == b""


def test_a_file_is_not_copied_onto_itself(local):
    with pytest.raises(PathRefused, match="is to be copied"):
        local.copy("sub/f", "sub/f", overwrite=True)
    assert local.read_text("sub/f") == "F"
