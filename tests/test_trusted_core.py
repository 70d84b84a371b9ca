"""The map says truthfully how much code must be believed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_map_states_what_the_script_counts():
    """Within a twentieth, so that it is not rewritten for every line."""
    script = ROOT / "docs" / "trusted_core.py"
    counted = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    stated = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    totals = [re.search(r"\| all \| \| ([\d,]+) \| ([\d,]+) \|", text).groups() for text in (counted, stated)]
    counted_lines, stated_lines = ([int(number.replace(",", "")) for number in numbers] for numbers in totals)
    assert stated_lines == pytest.approx(counted_lines, rel=0.05)
