"""How wide is a page in a real browser? Asks a headless Chromium, at several widths at once."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HARNESS = """<!doctype html><meta charset="utf-8">{frames}<pre id="widths"></pre><script>
onload = () => {{
  const frames = [...document.querySelectorAll("iframe")];
  document.getElementById("widths").textContent = JSON.stringify(frames.map((frame) => {{
    const inside = frame.contentDocument;
    inside.querySelectorAll("details").forEach((one) => {{ one.open = true; }});
    return [inside.documentElement.clientWidth, inside.documentElement.scrollWidth, inside.body.innerText.length];
  }}));
}};
</script>"""


def program() -> str:
    """The browser of this machine."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    assert found, "these tests need Chromium: apt-get install chromium"
    return found


def widths(page: str, asked: list[int], folder: Path, dark: bool = False) -> list[tuple[int, int, int]]:
    """For each width: that of the view, that of the page laid out in it with all details open, and its letters."""
    frames = "".join(
        f'<iframe style="border:0;width:{width}px;height:800px" srcdoc="{escape(page)}"></iframe>'
        for width in asked
    )
    harness = folder / "harness.html"
    harness.write_text(HARNESS.format(frames=frames), encoding="utf-8")
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    ran = subprocess.run(
        [
            program(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000", "--dump-dom", *scheme,
            harness.as_uri(),
        ],
        capture_output=True, encoding="utf-8", errors="replace", timeout=120, check=False,
    )  # fmt: skip
    told = re.search(r'<pre id="widths">(.+?)</pre>', ran.stdout)
    assert told, ran.stderr[-2000:]
    return [(view, laid_out, letters) for view, laid_out, letters in json.loads(unescape(told[1]))]
