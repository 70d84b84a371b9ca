"""Results are written whole or not at all, and only where they should go."""

import os
from pathlib import Path

import pytest

from tacit.files import check_destination, write_whole


def test_an_exception_leaves_the_old_file(tmp_path):
    path = tmp_path / "result.csv"
    path.write_text("old")

    def interrupted():
        with write_whole(path) as temporary:
            temporary.write_text("half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_goes_on_pointing_to_the_file(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    with write_whole(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_devices_are_not_replaced():
    with write_whole(Path(os.devnull)) as path:
        path.write_text("nothing")
    assert not Path(os.devnull).is_file()


def test_what_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "there.txt").touch()
    with pytest.raises(FileNotFoundError, match="does not exist; create it first"):
        check_destination(tmp_path / "none" / "a.txt")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        check_destination(tmp_path)
    with pytest.raises(FileExistsError, match="already a file"):
        check_destination(tmp_path / "there.txt", replace=False)
    check_destination(tmp_path / "there.txt")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="everything can be written by this user")
def test_a_read_only_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="Nothing can be written"):
        check_destination(tmp_path / "a.txt")
