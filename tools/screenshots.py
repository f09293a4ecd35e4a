# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Takes the pictures of pages in docs/images, in a browser without a window.

  suite run quickstart; suite run leaderboard/smoke --jobs 2      # or --workdir elsewhere
  python tools/screenshots.py [--quickstart DIR] [--leaderboard DIR] [--out FOLDER]

    report.png                  the page of quickstart
    leaderboard.png             the page of the leaderboard
    tensorboard_headlines.png   TensorBoard's custom scalars of quickstart
    tensorboard_hparams.png     its HParams tab

It needs selenium (the extra `dev`), chromium (or chrome) and chromedriver. A folder that is not
there is passed over, and said.
"""

from __future__ import annotations

import argparse
import io
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from PIL import Image
from selenium import webdriver

_ROOT = pathlib.Path(__file__).resolve().parents[1]
_FLAGS = ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage",
          "disable-background-networking", "disable-component-update", "disable-sync")
_SECONDS = 10  # That TensorBoard takes to draw.


def browser() -> webdriver.Chrome:
  """Starts the browser; the caller ends it.

  Raises:
    FileNotFoundError: there is none.
  """
  found = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
  driver = shutil.which("chromedriver")
  if not found or not driver:
    raise FileNotFoundError("Screenshots need chromium (or chrome) and chromedriver on the PATH; "
                            f"found {found or 'no browser'} and {driver or 'no chromedriver'}.")
  options = webdriver.ChromeOptions()
  options.binary_location = found
  for flag in _FLAGS:
    options.add_argument(f"--{flag}")
  return webdriver.Chrome(options=options, service=webdriver.chrome.service.Service(driver))


def take(driver: webdriver.Chrome, url: str, out: pathlib.Path, *, width: int = 1300,
         height: int = 900, seconds: float = 2) -> None:
  """Saves the top of a page, `height` pixels, once it has been open for some seconds."""
  driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
      "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
  driver.get(url)
  time.sleep(seconds)
  with Image.open(io.BytesIO(driver.get_screenshot_as_png())) as picture:
    picture.convert("RGB").quantize(256).save(out, optimize=True)
  print(f"Screenshot: {out}")


def _pages(driver: webdriver.Chrome, runs: dict[str, pathlib.Path], out: pathlib.Path) -> None:
  with tempfile.TemporaryDirectory() as folder:
    for name, (run, height) in {"report": (runs["quickstart"], 1500),
                                "leaderboard": (runs["leaderboard"], 1500)}.items():
      if not run.is_dir():
        print(f"{name}.png is left as it is: no {run}.")
        continue
      page = pathlib.Path(folder, f"{name}.html")
      subprocess.run([sys.executable, "-m", "suite", "report", str(run), "--format", "html",
                      "--out", str(page)], check=True, cwd=_ROOT, stdout=subprocess.DEVNULL)
      take(driver, page.as_uri(), out / f"{name}.png", height=height)


def _board(driver: webdriver.Chrome, run: pathlib.Path, out: pathlib.Path) -> None:
  if not (run / "tensorboard").is_dir():
    print(f"TensorBoard's pictures are left as they are: no {run / 'tensorboard'}.")
    return
  with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
  server = subprocess.Popen(
      [sys.executable, "-m", "tensorboard.main", "--logdir", str(run / "tensorboard"), "--port",
       str(port), "--host", "127.0.0.1", "--load_fast", "false"],
      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
  try:
    for _ in range(120):
      try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/data/environment").close()
        break
      except OSError:
        time.sleep(0.5)
    time.sleep(_SECONDS)  # It reads the files.
    for name, tab in (("headlines", "custom_scalars"), ("hparams", "hparams")):
      take(driver, f"http://127.0.0.1:{port}/#{tab}", out / f"tensorboard_{name}.png",
           height=860 if tab == "custom_scalars" else 620, seconds=_SECONDS)
  finally:
    server.terminate()
    server.wait()


def main(argv: list[str]) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  for name, default in {"quickstart": "runs/quickstart", "leaderboard": "runs/leaderboard/smoke",
                        "out": _ROOT / "docs/images"}.items():
    parser.add_argument(f"--{name}", type=pathlib.Path, default=pathlib.Path(default))
  args = parser.parse_args(argv)
  driver = browser()
  try:
    _pages(driver, vars(args), args.out)
    _board(driver, args.quickstart.resolve(), args.out)
  finally:
    driver.quit()
  return 0


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
