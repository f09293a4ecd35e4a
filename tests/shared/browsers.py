# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A real browser without a window for tests of pages; such tests skip where there is none."""

from __future__ import annotations

import contextlib
import pathlib
import shutil

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium drives the browser")
wait = pytest.importorskip("selenium.webdriver.support.wait")
_BROWSER = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
_DRIVER = shutil.which("chromedriver")
needed = pytest.mark.skipif(not (_BROWSER and _DRIVER),
                            reason="needs chromium (or chrome) and chromedriver")


@contextlib.contextmanager
def opened(page: pathlib.Path, width: int, downloads: pathlib.Path | None = None):
  """Opens a file at a width in pixels; yields selenium's driver."""
  options = webdriver.ChromeOptions()
  options.binary_location = _BROWSER
  for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
    options.add_argument(f"--{flag}")
  options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
  driver = webdriver.Chrome(options=options, service=webdriver.chrome.service.Service(_DRIVER))
  try:
    if downloads is not None:
      driver.execute_cdp_cmd("Browser.setDownloadBehavior", {
          "behavior": "allow", "downloadPath": str(downloads)})
    resize(driver, width)
    visit(driver, page)
    yield driver
  finally:
    driver.quit()


def visit(driver, page: pathlib.Path, until: str = "true") -> None:
  """Opens a file, again until a condition in JavaScript holds of the loaded page.

  A browser hands what a page stored to the next page with a delay, so that a page that is opened
  at once may not find it yet.
  """
  def loaded(one) -> bool:
    one.get(page.as_uri())
    return one.execute_script(
        f"return document.readyState === 'complete' && document.hasFocus() && ({until})")
  wait.WebDriverWait(driver, 30).until(loaded)


def resize(driver, width: int) -> None:
  """Sets the width of the page; its height is 900 pixels."""
  driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
      "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})


def complaints(driver) -> list[str]:
  """Returns what the console says beyond information, and what the page loaded."""
  return ([line["message"] for line in driver.get_log("browser") if line["level"] != "INFO"]
          + driver.execute_script("return performance.getEntriesByType('resource')"
                                  ".map(one => one.name).filter(one => !one.startsWith('data:'))"))


def fits(driver) -> bool:
  """Whether the page is not wider than the window."""
  return driver.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
