"""What all tests share. There is one such file: two of that name clash where modules are searched for examples.

``--shard 2/4`` (``make audit SHARD=2/4``) runs the second of four parts of the tests that are chosen. Which part a test
is in depends on its name alone, so that parts can run on different machines, and together are all tests.
"""

from hashlib import sha256

import pytest

# Fixtures of several files each, beside the tests that use them.
pytest_plugins = ["people_folder", "spark_session", "two_clusters"]


def pytest_addoption(parser):
    parser.addoption("--shard", metavar="I/N", default="1/1", help="run the I-th of N parts of the tests")


def part(text: str) -> tuple[int, int]:
    """Return which part is asked for, counted from 0, and of how many.

    Examples
    --------
    >>> part("2/4")
    (1, 4)
    """
    index, slash, count = text.partition("/")
    if not (slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise pytest.UsageError(f"A shard is I/N with I from 1 to N, such as 2/4, and it is {text!r}.")
    return int(index) - 1, int(count)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave out the tests of other parts."""
    index, count = part(config.getoption("--shard"))
    if count == 1:
        return
    ours = [item for item in items if int(sha256(item.nodeid.encode()).hexdigest(), 16) % count == index]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(ours)])
    items[:] = ours
