"""Print constraints: what tacit runs on and reads tables from, at the oldest versions that pyproject.toml allows."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
tables = [requirement for requirement in extras["dev"] if requirement.startswith(("pandas", "polars"))]
for requirement in [*project["dependencies"], *extras["plot"], *extras["postgres"], *tables]:
    print(re.sub(r"\[.*\]", "", requirement).replace(">=", "=="))  # a constraint has no extras
