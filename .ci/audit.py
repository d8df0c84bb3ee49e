"""Advisories on what is installed here, by pip-audit; ends with 1 where there is one.

Where the advisory service can't be reached it says that nothing was checked, and ends with 0. A package with known
advisories is asked about first: a service, or a mirror of it, that has none to tell of that one proves nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

KNOWN_TO_BE_WEAK = "django==2.2"
CONTROL_WITHIN_S, ALL_WITHIN_S = 60, 300
NOT_CHECKED = "pip-audit: the advisory service can't be reached: the installed packages were NOT checked."


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        control = Path(folder) / "requirements.txt"
        control.write_text(KNOWN_TO_BE_WEAK + "\n")
        told = audited("--no-deps", "--disable-pip", "--requirement", str(control), within_s=CONTROL_WITHIN_S)
    if not any(package.get("vulns") for package in told):
        print(NOT_CHECKED)
        return 0
    packages = audited("--local", "--skip-editable", within_s=ALL_WITHIN_S)
    if not packages:
        print(NOT_CHECKED)
        return 0
    skipped = sorted(package["name"] for package in packages if "skip_reason" in package)
    weak = [package for package in packages if package.get("vulns")]
    for package in weak:
        for advisory in package["vulns"]:
            fixed = ", ".join(advisory["fix_versions"]) or "no version"
            print(f"{package['name']} {package['version']}: {advisory['id']}, mended by {fixed}")
    print(f"pip-audit: {len(packages) - len(skipped)} packages checked, {len(weak)} with advisories.")
    if skipped:
        print(f"Not checked, for the service does not know them: {', '.join(skipped)}.")
    return int(bool(weak))


def audited(*options: str, within_s: float) -> list[dict]:
    """What pip-audit tells of each package; empty where it could not ask."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=within_s, check=False)  # noqa: S603
        return json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return []


if __name__ == "__main__":
    sys.exit(main())
