"""The HTML report in a real browser: no errors, tables sort, tooltips show values, nothing overflows."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from noregret.plots.html_report import html_report
from tests.plots.test_html_report import ATTACK, hostile_report
from tests.support.command_line import SAMPLE, noregret, succeeded
from tests.support.cover import only_in_test_all

pytestmark = [only_in_test_all, pytest.mark.slow]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install 'noregret[browser]'"
    )
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("browser")
    (folder / "a.svm").write_text(SAMPLE)
    words = (
        "race",
        "a.svm",
        "--learners",
        "perceptron,pa1,arow",
        "--quiet",
        "--json",
        "r.json",
        "--report",
        "race.html",
    )
    succeeded(noregret(*words, cwd=folder))
    report = json.loads((folder / "r.json").read_text())
    points = [{"rounds": n, "regret": n**0.5, "bound": 9.0 * n**0.5, "gap": 1e-6} for n in (1, 10, 100, 200)]
    told = {"loss": "hinge", "comparator": "the best weights", "says": "R", "points": points}
    measured = [{"rounds": n, "measured": n / 2, "bound": 3.0 * n} for n in (1, 10, 200)]
    bare = [{**point, "bound": None} for point in points]
    theorem = {"bounds": "updates", "says": "updates <= R", "when": "always", "points": measured}
    for entry, own in zip(report["learners"], (told, {**told, "points": bare, "guarantee": theorem}), strict=False):
        entry["regret"] = own
    report["learners"][2]["regret"] = {"why_not": "its loss is not convex"}
    parts = [{"from": 1, "name": "pa1"}, {"from": 101, "name": "arow"}]
    report["sequences"] = [{"switches": 1, "loss": 12.5, "learners": parts}]
    long = [{**report["learners"][1], "name": f"{'long_name_' * 12}{k}"} for k in range(25)]
    (folder / "many.html").write_text(html_report({**report, "learners": [*report["learners"], *long]}))
    (folder / "hostile.html").write_text(html_report(hostile_report()))
    damaged = {**report, "learners": [{**report["learners"][0], "confusion": {"labels": ["a"]}, "curve": [3, None]}]}
    (folder / "damaged.html").write_text(html_report({**damaged, "source": None, "notes": 3}))
    return {name: folder / f"{name}.html" for name in ("race", "many", "hostile", "damaged")}


class Visit:
    """A page that is open, and what its console said."""

    def __init__(self, browser: Any, path: Path, width: int = 1600, theme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", self.refuse)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("main section")
        self.page.wait_for_timeout(150)

    def refuse(self, dialog: Any) -> None:
        self.said.append("dialog")
        dialog.dismiss()


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["race", "many", "hostile"])
def test_pages_open_without_errors_and_nothing_overflows(
    name: str, theme: str, width: int, browser: Any, pages: dict[str, Path]
) -> None:
    visit = Visit(browser, pages[name], width, theme)
    assert visit.said == []
    assert [url for url in visit.requests if not url.startswith(("file:", "data:"))] == []
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    outside = visit.page.evaluate(
        "[...document.querySelectorAll('main *')].filter((one) => !one.closest('.scroll, svg') && "
        "one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80))"
    )
    assert outside == []
    visit.context.close()


def test_of_a_damaged_report_is_shown_what_can_be(browser: Any, pages: dict[str, Path]) -> None:
    visit = Visit(browser, pages["damaged"])
    assert visit.said == []
    assert visit.page.locator(".damaged").count() >= 1
    assert "Ranking" in visit.page.locator("h2").all_inner_texts()
    visit.context.close()


def test_headings_sort(browser: Any, pages: dict[str, Path]) -> None:
    visit = Visit(browser, pages["race"])
    heading = visit.page.get_by_role("button", name="updates", exact=True)
    column = visit.page.locator("th", has=heading)
    place = visit.page.locator("th").all_inner_texts().index("updates")
    values = []
    for order in ("ascending", "descending"):
        heading.click()
        assert column.get_attribute("aria-sort") == order
        cells = visit.page.locator("section table").first.locator(f"tbody tr td:nth-child({place + 1})")
        values.append([int(text.replace(",", "")) for text in cells.all_inner_texts()])
    assert values[0] == sorted(values[0])
    assert values[1] == sorted(values[0], reverse=True)
    visit.context.close()


@pytest.mark.parametrize("width", [400, 1600])
def test_tooltips_show_the_values_at_the_cursor(width: int, browser: Any, pages: dict[str, Path]) -> None:
    visit = Visit(browser, pages["race"], width)
    chart = visit.page.locator(".chart").first
    chart.scroll_into_view_if_needed()
    tooltip = chart.locator(".tooltip")
    assert not tooltip.is_visible()
    box = chart.locator("svg").bounding_box()
    visit.page.mouse.move(box["x"] + box["width"] - 16, box["y"] + box["height"] / 2)
    text = tooltip.inner_text()
    assert "200 rounds" in text
    report = json.loads((pages["race"].parent / "r.json").read_text())
    for entry in report["learners"]:
        assert entry["name"] in text
        assert f"{entry['rate']:.4g}" in text
    place = tooltip.bounding_box()
    assert place["x"] >= 0
    assert place["x"] + place["width"] <= width
    visit.page.mouse.move(2, 2)
    assert not tooltip.is_visible()
    chart.locator("svg").focus()
    visit.page.keyboard.press("Home")
    assert "8 rounds" in tooltip.inner_text()
    visit.page.keyboard.press("Escape")
    assert not tooltip.is_visible()
    assert visit.said == []
    visit.context.close()


def test_choices_and_the_legend_redraw(browser: Any, pages: dict[str, Path]) -> None:
    visit = Visit(browser, pages["many"])
    chart = visit.page.locator(".chart").first
    before = chart.locator("polyline").count()
    visit.page.locator(".legend button").first.click()
    assert chart.locator("polyline").count() == before - 1
    visit.page.get_by_label("measure").select_option("loss")
    visit.page.get_by_label("view").first.select_option("recent")
    assert "mean loss since the last point" in chart.locator("svg").get_attribute("aria-label")
    regret = visit.page.locator(".chart").nth(1)
    assert regret.locator("polyline.bound").count() == 0  # the learner was taken out of all charts
    visit.page.locator(".legend button").first.click()
    assert regret.locator("polyline.bound").count() == 1
    assert regret.locator("polyline").count() == 8
    assert visit.page.get_by_label("scale").input_value() == "log"  # bounds are nine times as large
    visit.page.get_by_label("scale").select_option("linear")
    part = visit.page.locator("section", has=visit.page.get_by_role("heading", name="Regret against its bound"))
    assert "its loss is not convex" in part.inner_text()
    assert "1 switch: mistakes 12.5; pa1 from round 1, arow from round 101" in part.inner_text()
    part.get_by_label("learner").select_option(index=2)
    assert regret.locator("polyline.bound").count() == 0
    part.get_by_label("view").select_option("theorem")
    assert regret.locator("polyline.bound").count() == 1
    assert "updates against rounds" in regret.locator("svg").get_attribute("aria-label")
    assert visit.said == []
    visit.context.close()


def test_the_theme_can_be_switched(browser: Any, pages: dict[str, Path]) -> None:
    colours = []
    visit = Visit(browser, pages["race"], theme="dark")
    for _ in range(2):
        colours.append(visit.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        visit.page.locator("#theme").click()
    assert colours == ["rgb(21, 24, 29)", "rgb(255, 255, 255)"]
    visit.context.close()


CONTRAST = """() => {
  const light = (text) => { const parts = text.match(/[\\d.]+/g).map(Number);
    return parts.slice(0, 3).map((one) => (one /= 255) <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
      .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0); };
  const behind = (one) => { while (one) { const found = getComputedStyle(one).backgroundColor;
    if (!/, 0\\)$|transparent/.test(found)) return found; one = one.parentElement; } return "rgb(255, 255, 255)"; };
  const texts = "h1, h2, p, dt, dd, td:not(.heat td), th, li.note, label, .legend button[aria-pressed=true]";
  return [...document.querySelectorAll(texts)]
    .filter((one) => one.innerText && one.offsetWidth).map((one) => {
      const [a, b] = [light(getComputedStyle(one).color), light(behind(one))].sort((x, y) => y - x);
      return [(a + 0.05) / (b + 0.05), one.innerText.slice(0, 30)]; }).filter(([ratio]) => ratio < 4.5);
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_contrast_and_controls_have_names(theme: str, browser: Any, pages: dict[str, Path]) -> None:
    visit = Visit(browser, pages["race"], theme=theme)
    assert visit.page.evaluate(CONTRAST) == []
    unnamed = "[...document.querySelectorAll('button, select, svg, [role=region]')].filter((one) => !(one.innerText || "
    unnamed += "one.closest('label') || one.getAttribute('aria-label'))).length"
    assert visit.page.evaluate(unnamed) == 0
    visit.context.close()


def test_names_that_are_html_are_shown_as_they_are(browser: Any, pages: dict[str, Path]) -> None:
    visit = Visit(browser, pages["hostile"])
    assert visit.page.locator("img").count() == 0
    shown = visit.page.locator("td.name .learner").first
    assert shown.get_attribute("title") == ATTACK
    assert shown.inner_text().startswith("</script><img src=x onerror=")
    assert visit.page.title().startswith("Race on </script>")
    assert visit.said == []
    visit.context.close()
