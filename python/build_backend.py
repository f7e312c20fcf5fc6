# SPDX-License-Identifier: Apache-2.0
"""Makes wheels. pip calls build_wheel() for `pip install .` and build_editable() for `pip install -e .` (PEP 517 and 660);
scripts/make-wheel calls main(). A wheel always has the programs: they are built if they are not there yet, and where that
fails, the installation fails and says what is missing. It needs nothing but Python and what builds the programs.

The tag is py3-none-linux_x86_64: nothing in it depends on the version of Python. It uses this machine's shared libraries;
scripts/make-wheel lets auditwheel add them and change the tag, for other machines."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any, Dict, Optional, Set, Tuple

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PACKAGE = ROOT / "python" / "hypermile"
TARGETS = ["hypermile", "hypermiled", "hypermile_inject", "hypermile_tick", "hypermile_python", "nvmlsim"]
BUILT = ["bin/hypermile", "bin/hypermiled", "lib/libhypermile_inject.so", "lib/libhypermile.so.0", "lib/libhypermile_python.so",
         "lib/nvmlsim/libnvidia-ml.so.1"]
COMMANDS = "[console_scripts]\nhypermile = hypermile.program:main\nhypermiled = hypermile.program:main_daemon\n"
EVERYWHERE = {"libc6", "libgcc-s1", "libstdc++6", "zlib1g"}  # packages whose libraries no wheel brings (manylinux)
Files = Dict[str, Tuple[bytes, bool]]  # path in the wheel → content, and whether it can be executed


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Optional[str] = None) -> str:
    build_programs()
    with tempfile.TemporaryDirectory() as folder:
        return _write(Path(wheel_directory), {**_sources(), **_programs(Path(folder)), **_data()}, "linux_x86_64")


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: Optional[str] = None) -> str:
    build_programs()
    return _write(Path(wheel_directory), {"hypermile.pth": (f"{PACKAGE.parent}\n".encode(), False)}, "linux_x86_64")


def build_programs() -> None:
    """Brings build/ up to date; SystemExit with one line where that fails."""
    if shutil.which("cmake") is None:
        _refuse("cmake was not found")
    if not (BUILD / "CMakeCache.txt").exists():
        _run("cmake", "--preset", "release", "--log-level=WARNING")
    _run("cmake", "--build", str(BUILD), "-j", str(os.cpu_count() or 1), "--target", *TARGETS)


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        print("\n".join(done.stdout.splitlines()[-30:]), file=sys.stderr)
        _refuse(f"'{' '.join(command[:3])}' failed")


def _refuse(problem: str) -> None:
    sys.exit(f"hypermile: {problem}, so the programs cannot be built, and without them the package is useless; install a wheel that was "
             "made with 'make wheel', or what packaging/packages.txt lists under [build]")


def _sources() -> Files:
    return {f"hypermile/{path.relative_to(PACKAGE)}": (path.read_bytes(), False)
            for path in sorted(PACKAGE.rglob("*")) if path.suffix == ".py" or path.name == "py.typed"}


def _programs(folder: Path) -> Files:
    files = {}
    for name in BUILT:
        copy = folder / Path(name).name
        shutil.copyfile(BUILD / name, copy)
        subprocess.run(["strip", "--strip-unneeded", str(copy)], check=True)
        files[f"hypermile/{name}"] = (copy.read_bytes(), True)
    return files


def _data() -> Files:
    """The files and folders that apps/CMakeLists.txt installs."""
    installed = (ROOT / "apps" / "CMakeLists.txt").read_text(encoding="utf-8")
    places = [ROOT / name for name in re.findall(r"\$\{PROJECT_SOURCE_DIR\}/([\w./-]+)", installed)]
    paths = [path for place in places for path in ([place] if place.is_file() else sorted(place.rglob("*")))]
    files = {f"hypermile/share/hypermile/{path.relative_to(ROOT)}": (path.read_bytes(), False) for path in paths if path.is_file()}
    files["hypermile/share/hypermile/hypermiled.toml"] = ((ROOT / "packaging" / "hypermiled.toml").read_bytes(), False)
    return files


def bundled_licences() -> Files:
    """The licences of Debian's libraries that auditwheel will add, from their packages."""
    files = {}
    for library in sorted(_linked()):
        # By the last two parts of the path, because Debian's list has /lib where the file is in /usr/lib.
        owner = subprocess.run(["dpkg", "-S", f"*/{library.parent.name}/{library.name}"], capture_output=True, text=True, check=True)
        package = owner.stdout.split(":")[0]
        if package not in EVERYWHERE:
            files[f"licenses/{package}"] = (Path(f"/usr/share/doc/{package}/copyright").read_bytes(), False)
    return files


def _linked() -> Set[Path]:
    found = set()
    for name in BUILT:
        listed = subprocess.run(["ldd", str(BUILD / name)], capture_output=True, text=True, check=True).stdout
        found |= {Path(os.path.realpath(path)) for path in re.findall(r"=> (/\S+)", listed)}
    return found


def version() -> str:
    """Of the package, which must be that of the programs."""
    of_package = re.search(r'__version__ = "(.*)"', (PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    of_programs = re.search(r"project\(hypermile VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    if of_package is None or of_programs is None or of_package[1] != of_programs[1]:
        sys.exit("hypermile: CMakeLists.txt and python/hypermile/__init__.py have different versions")
    return of_package[1]


def _metadata() -> str:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return (f"Metadata-Version: 2.1\nName: hypermile\nVersion: {version()}\n"
            "Summary: More training per joule: GPU clocks at least energy within a slowdown bound\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\nClassifier: Operating System :: POSIX :: Linux\nClassifier: Typing :: Typed\n"
            "Provides-Extra: frames\nRequires-Dist: pandas; extra == \"frames\"\n"
            "Provides-Extra: torch\nRequires-Dist: torch>=1.13; extra == \"torch\"\n"
            f"Description-Content-Type: text/markdown\n\n{readme}")


def _write(folder: Path, files: Files, platform: str, more: Optional[Files] = None) -> str:
    """Writes the wheel with its metadata; `more` goes beside the metadata."""
    tag = f"py3-none-{platform}"
    info = f"hypermile-{version()}.dist-info"
    tags = f"Wheel-Version: 1.0\nGenerator: hypermile\nRoot-Is-Purelib: false\nTag: {tag}\n"
    beside = {"METADATA": _metadata(), "WHEEL": tags, "entry_points.txt": COMMANDS}
    files = {**files, **{f"{info}/{name}": (text.encode(), False) for name, text in beside.items()},
             **{f"{info}/{name}": content for name, content in (more or {}).items()},
             f"{info}/licenses/LICENSE": ((ROOT / "LICENSE").read_bytes(), False)}
    record = "".join(f"{name},sha256={_digest(content)},{len(content)}\n" for name, (content, _) in files.items())
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), False)
    name = f"hypermile-{version()}-{tag}.whl"
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, (content, executable) in files.items():
            entry = zipfile.ZipInfo(path, _date())
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            wheel.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return name


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _date() -> Tuple[int, int, int, int, int, int]:
    """One date for all files, so that the same sources make the same wheel."""
    at = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), 315532800))  # zip begins with 1980
    return at[:6]


def main(folder: str) -> None:
    """A wheel for auditwheel: with the licences of what it will add."""
    build_programs()
    with tempfile.TemporaryDirectory() as programs:
        files = {**_sources(), **_programs(Path(programs)), **_data()}
        print(Path(folder) / _write(Path(folder), files, "linux_x86_64", bundled_licences()))


if __name__ == "__main__":
    main(sys.argv[1])
