"""The report in a real browser: it fits a phone and a desk, can be read in light and dark, and draws its pictures.

A browser's window has a least width, above a phone's, so the report is shown in frames of exactly the width
that is wanted.
"""

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.report import report_html, write_report
from tacit.tables import Boolean, Categorical, Integer, Numeric

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (Debian's package chromium)")

PHONE, DESK = 390, 1280
DARK = "--blink-settings=preferredColorScheme=0"
EVIL = "<script>parent.hacked = true</script><img src=x onerror='parent.hacked = true'>"

MEASURE = """
function luminance(colour) {
  const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(v => colour.startsWith('color(') ? v : v / 255);
  const [r, g, b] = parts.map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function behind(element, style) {
  if (element.classList.contains('badge-text')) return style(element.previousElementSibling).fill;
  for (let e = element; e; e = e.parentElement) {
    const colour = style(e).backgroundColor;
    if (!/^rgba.*, 0\\)$/.test(colour)) return colour;
  }
}
function measure(frame) {
  const page = frame.contentDocument, style = e => frame.contentWindow.getComputedStyle(e);
  const contrasts = [], cut = [];
  const texts = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || ['SCRIPT', 'title', 'desc'].includes(element.tagName)) continue;
    const ink = element.tagName === 'text' ? style(element).fill : style(element).color;
    const [dim, bright] = [ink, behind(element, style)].map(luminance).sort((a, b) => a - b);
    contrasts.push([(bright + 0.05) / (dim + 0.05), texts.currentNode.data.trim().slice(0, 30)]);
  }
  for (const text of page.querySelectorAll('svg text')) {
    const inner = text.getBoundingClientRect(), outer = text.ownerSVGElement.getBoundingClientRect();
    if (inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.bottom > outer.bottom + 1)
      cut.push(text.textContent);
  }
  return {
    width: page.documentElement.clientWidth,
    reach: page.documentElement.scrollWidth,
    height: page.documentElement.scrollHeight,
    background: luminance(style(page.body).backgroundColor),
    contrast: contrasts.sort((a, b) => a[0] - b[0])[0],
    smallest: Math.min(...[...page.querySelectorAll('p, dd, td, th, li')].map(e => parseFloat(style(e).fontSize))),
    cut: cut,
    pictures: [...page.querySelectorAll('svg.picture')].map(e => e.getBoundingClientRect().width),
    ellipses: page.querySelectorAll('svg ellipse').length,
    columns: page.querySelectorAll('table.by-component thead th').length,
    heading: page.querySelector('h1').textContent,
    text: page.body.innerText,
    scripts: page.querySelectorAll('script:not([type="application/json"]), img').length,
    certificate: JSON.parse(page.getElementById('certificate').textContent).format,
    hacked: window.hacked === true,
  };
}
window.onload = () => {
  const found = [...document.querySelectorAll('iframe')].map(measure);
  document.body.innerHTML = '';
  document.body.append(Object.assign(document.createElement('pre'), {textContent: JSON.stringify(found)}));
};
"""


@dataclass(frozen=True)
class Browser:
    """Chromium, with a profile of its own for every call."""

    place: Path

    def run(self, url: str, *options: str) -> str:
        profile = self.place / f"profile{len(list(self.place.iterdir()))}"
        command = [
            CHROMIUM,
            *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            *(f"--user-data-dir={profile}", *options, url),
        ]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout

    def frames(self, pages: list[tuple[str, int, int]], script: str = "") -> str:
        """Return the address of a page that shows each report in a frame of some width and height."""
        shown = "".join(
            f'<iframe style="border:0;display:block;width:{width}px;height:{height}px" srcdoc="{html.escape(page)}">'
            "</iframe>"
            for page, width, height in pages
        )
        path = self.place / f"frames{len(list(self.place.iterdir()))}.html"
        head = '<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        path.write_text(f'{head}<body style="margin:0">{shown}<script>{script}</script></body>', encoding="utf-8")
        return path.as_uri()

    def measure(self, pages: list[str], *options: str) -> list[dict]:
        """Return what the browser finds in each page at a phone's width, then at a desk's."""
        url = self.frames([(page, width, 900) for page in pages for width in (PHONE, DESK)], MEASURE)
        dom = self.run(url, "--dump-dom", "--window-size=1400,900", *options)
        return json.loads(html.unescape(re.search(r"<pre>(.*?)</pre>", dom, re.DOTALL)[1]))

    def screenshot(self, page: str, width: int, *options: str) -> np.ndarray:
        image = self.place / f"shot{len(list(self.place.iterdir()))}.png"
        self.run(self.frames([(page, width, 2400)]), f"--screenshot={image}", "--window-size=1280,2400", *options)
        assert image.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        reader = pytest.importorskip("matplotlib.image", reason="reading the picture back takes matplotlib")
        return np.asarray(reader.imread(image))[:, :width, :3]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    return Browser(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def pages():
    """A usual report, and of each kind of model one with what could burst the page: long names, markup, many parts."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 9000)
    usual = tacit.Schema(
        {"age": Integer(0, 120), "pressure": Numeric(0, 300), "weight": Numeric(0, 250), "smoker": Boolean()}
    )
    rows = {
        "age": rng.normal(np.array([25, 50, 75])[group], 5).round(),
        "pressure": rng.normal(np.array([110, 150, 140])[group], 9),
        "weight": rng.normal(np.array([60, 90, 75])[group], 8),
        "smoker": rng.random(9000) < np.array([0.1, 0.5, 0.3])[group],
    }
    model = tacit.GaussianMixture(3, epsilon=1.0, bounds=usual).fit(rows)
    long = "a_name_without_any_place_to_break_it_" * 4
    odd = tacit.Schema(
        {
            long: Numeric(-1e7, 1e7),
            EVIL: Numeric(0, 1e-4),
            "level": Categorical([EVIL, long, "x"]),
            "عمر": Numeric(0, 1),
        }
    )
    many = {
        long: rng.normal(4e6, 1e6, 9000),
        EVIL: rng.random(9000) * 1e-4,
        "level": np.array([EVIL, long, "x"])[group],
        "عمر": rng.random(9000),
    }
    seeded = tacit.GaussianMixture(10, epsilon=20.0, delta=1e-3, bounds=odd, random_state=0)
    with pytest.warns(UserWarning, match="delta"):
        seeded.fit(many)
    others = [tacit.KMeans(9, epsilon=3.0, bounds=odd), tacit.Moments(bounds=odd), tacit.FactorAnalysis(3, bounds=odd)]
    supervised = [
        tacit.LinearRegression(bounds=odd).fit(many, long),
        tacit.LogisticRegression(bounds=odd).fit(many, "level"),
        tacit.LogisticRegression(bounds=usual).fit(rows, "smoker"),
        tacit.Lasso(1e5, bounds=odd).fit(many, long),
        tacit.MixtureOfRegressions(2, bounds=usual).fit(rows, "pressure"),
    ]
    return [
        report_html(model, title="A cohort"),
        report_html(seeded, title=long + EVIL),
        *(report_html(other.fit(many)) for other in others),
        *map(report_html, supervised),
    ]


@pytest.fixture(scope="module", params=["light", "dark"])
def found(browser, pages, request):
    return request.param, browser.measure(pages, *([DARK] if request.param == "dark" else []))


def test_it_fits_a_phone_and_a_desk(found):
    for measured, width in zip(found[1], cycle((PHONE, DESK))):
        assert measured["width"] == width
        assert measured["reach"] <= width, "the page scrolls sideways"
        assert measured["cut"] == [], "text in a picture is cut off"
        assert all(200 < picture <= width for picture in measured["pictures"])
        assert measured["smallest"] >= 12


def test_it_can_be_read(found):
    theme, measurements = found
    for measured in measurements:
        contrast, text = measured["contrast"]
        assert contrast >= 4.5, f"{text!r} has too little contrast"  # WCAG 2.2, level AA
        assert (measured["background"] < 0.05) == (theme == "dark")


def test_everything_is_there_without_a_script(found):
    usual, odd = found[1][0], found[1][2]
    assert usual["heading"] == "A cohort"
    assert usual["ellipses"] == 3 * 3 * 2
    assert usual["columns"] == 2 * (2 + 3) + 1
    for words in ("Strong protection", "What was released", "pressure", "Other readings of it", "9,000"):
        assert words in usual["text"]
    assert usual["certificate"] == odd["certificate"] == "tacit.certificate/1"
    assert "SEEDED: NOT PRIVATE" in odd["text"]
    kinds = ("9 centres", "Which columns go together", "How much they explain")
    odds = ("How inputs change the odds", "odds of true")
    supervised = ("What inputs add to", *odds, "exactly zero", "each regression predicts")
    for measured, words in zip(found[1][4::2], kinds + supervised, strict=True):
        assert words in measured["text"]


def test_names_that_are_markup_stay_names(found):
    for measured in found[1]:
        assert not measured["hacked"]
        assert measured["scripts"] == 0
    assert EVIL in found[1][3]["text"]


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_screenshots_show_a_page(browser, pages, width):
    light, dark = browser.screenshot(pages[0], width), browser.screenshot(pages[0], width, DARK)
    for picture in (light, dark):
        assert picture.shape == (2400, width, 3)
        colours = (picture * 255).astype(int) @ [65536, 256, 1]
        assert len(np.unique(colours)) > 100
        written = (np.abs(picture - picture[0, 0]).max(axis=2) > 0.2).any(axis=1)
        assert written[:1200].mean() > 0.3  # Lines with something on them, in the upper half.
    assert light.mean() > 0.7
    assert dark.mean() < 0.4


def test_the_file_itself_opens(browser, tmp_path):
    model = tacit.GaussianMixture(1, bounds=(-5, 5)).fit(np.random.default_rng(0).normal(size=(2000, 2)))
    path = write_report(model, tmp_path / "report.html", title="On its own")
    assert "<h1>On its own</h1>" in browser.run(path.as_uri(), "--dump-dom")
