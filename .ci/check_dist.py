"""Look inside what was built: everything needed is in it, and nothing else of this folder."""

import sys
import tarfile
import zipfile
from pathlib import Path

root, folder = Path(__file__).parents[1], Path(sys.argv[1])
wheel, sdist = max(folder.glob("*.whl")), max(folder.glob("*.tar.gz"))
in_wheel = set(zipfile.ZipFile(wheel).namelist())
with tarfile.open(sdist) as archive:
    in_sdist = {name.partition("/")[2] for name in archive.getnames()}

package = {path.relative_to(root / "src").as_posix() for path in (root / "src").rglob("*") if path.is_file()}
package = {name for name in package if "__pycache__" not in name}
others = {name for name in in_wheel if not name.startswith("tacit/") and ".dist-info/" not in name}
problems = [
    *(f"the wheel lacks {name}" for name in sorted(package - in_wheel)),
    *(f"the wheel has {name}, which is not of the package" for name in sorted(others)),
    *(f"the source distribution lacks src/{name}" for name in sorted(package) if f"src/{name}" not in in_sdist),
    *(f"the source distribution lacks {name}" for name in ("README.md", "LICENSE", "Makefile") if name not in in_sdist),
    *(["the wheel lacks its licence"] if not any(name.endswith("/LICENSE") for name in in_wheel) else []),
]
if problems:
    sys.exit("\n".join(problems))
print(f"{wheel.name}: {len(in_wheel)} files; {sdist.name}: {len(in_sdist)} files; all that is needed is there.")
