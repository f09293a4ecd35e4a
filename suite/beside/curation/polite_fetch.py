# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Fetches images from web servers without being a burden to them; resumes where it ended.

Each host is asked for one image at a time, at most `rate` times a second, and not at all for what
its robots.txt forbids. A host that says Retry-After (429, 503) is left alone for that long. Errors
that may pass (5xx, timeouts, lost connections) are tried again with growing waits, and again by the
next call. What has failed for good (404, no image, too large) is listed and not asked for again.

A list may be a stranger's: a connection to an address that is not of the public internet (this
machine, its network, a cloud's metadata) is closed before a byte is sent, whatever name or
redirection led there, and an answer that trickles is given up. A host whose robots.txt asks for
more than a minute between images is left alone.

  DIR/images/ab/ab12...jpg     named by the SHA-256 of the URL: the same in every call
  DIR/outcomes.jsonl           a line an answer, appended; the newest of a URL counts. A line of an
                               image has its digest; the image is on the disk before it

Lists of URLs of images, as users and CLEAR's archives have them.

  .txt              a URL a line
  .csv, .parquet    the column `url`; all other columns are kept
  .json             {id: {"DOWNLOAD_URL": ..., "DATE_UPLOADED": ...}}, as CLEAR's
                    all_metadata/3.json, whose name is the bucket
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import concurrent.futures
import contextlib
import dataclasses
import email.utils
import hashlib
import http.client
import ipaddress
import json
import pathlib
import socket
import ssl
import threading
import time
from typing import Any, NamedTuple
import urllib.error
import urllib.parse
import urllib.request
import urllib.robotparser
import zlib

from absl import logging

from suite.beside.curation import errors
from suite.beside.curation import image_table
from suite.data.images import own_images
from suite.system import atomic_files
from suite.system import sealed_json

DONE, GONE, LATER = STATES = ("done", "gone", "later")
OUTCOMES = "outcomes.jsonl"
AGENT = "lifelong-suite"
_PASSING = (408, 425, 429, 500, 502, 503, 504)  # HTTP statuses that may pass.
_LONGEST_DELAY = 60  # Seconds between the images of a host, whatever its robots.txt says.
# Networks with an IPv4 address in the last bits: translated ones (RFC 6052, RFC 2765).
_WITH_IPV4 = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::ffff:0:0:0/96")))
# Local ones that `is_global` does not know: of translators (RFC 8215), and sites (RFC 3879).
_LOCAL = tuple(map(ipaddress.IPv6Network, ("64:ff9b:1::/48", "fec0::/10")))
_NO_PHOTO = "photo_unavailable"  # Flickr redirects deleted photos to an image of this name.
_SUFFIXES = {"JPEG": ".jpg", "TIFF": ".tif", "PPM": ".pnm", "JPEG2000": ".jp2"}
URL = "url"
_FACTS = ("id", "time", "timestamp", "label", "class", "bucket")  # What a timeline reads of them.
_CLEAR_URL, _CLEAR_TIME = "DOWNLOAD_URL", "DATE_UPLOADED"
_SHOWN = 5


@dataclasses.dataclass(frozen=True)
class Manners:
  """The limits.

  Attributes:
    rate: requests a second to one host, at most.
    hosts: hosts that are asked at the same time.
    tries: of an image within a call.
    timeout: seconds without an answer.
    longest_wait: seconds; a host that asks for more is left to the next call.
    largest: bytes of an image.
    deadline: seconds for an image, redirections included.
    slowest: bytes a second that must come on average, after `timeout` seconds.
    contact: added to the User-Agent, an address to complain to.
    allow_private: whether addresses of this machine and its networks may be asked.
  """

  rate: float = 2.0
  hosts: int = 4
  tries: int = 4
  timeout: float = 30.0
  longest_wait: float = 600.0
  largest: int = 20_000_000
  deadline: float = 300.0
  slowest: float = 1000.0
  contact: str = ""
  allow_private: bool = False

  def __post_init__(self) -> None:
    wrong = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)
             if isinstance(field.default, (int, float)) and field.default is not False
             and not getattr(self, field.name) > 0}
    if wrong:
      raise errors.CurationError(f"Numbers of a fetch must be above 0, got {wrong}.")


@dataclasses.dataclass(frozen=True)
class Outcome:
  """The answer to a URL: "done" with its file, "gone" or "later" with a reason."""

  url: str
  state: str
  file: str = ""
  bytes: int = 0
  reason: str = ""
  sha256: str = ""


def known(folder: pathlib.Path) -> dict[str, Outcome]:
  """Returns the newest outcome of each URL; what is not an image in its place does not count.

  An image is what was fetched by its digest, or, of a line of an earlier version, decoded.
  """
  found: dict[str, Outcome] = {}
  path = folder / OUTCOMES
  if path.is_file():
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1):
      try:
        one = Outcome(**sealed_json.parsed(line))
        found[str(one.url)] = one
      except (ValueError, TypeError) as error:
        if line:  # Empty ones end the line of a killed process.
          logging.warning("%s, line %d is not an outcome as it was written (%s): its image is "
                          "asked for again.", path, number, error)

  def is_there(one: Outcome) -> bool:
    # The line may be a stranger's: its file is that of its URL, in this folder.
    name, file = _stem(one.url), pathlib.PurePosixPath(str(one.file))
    image = folder / file
    if file.parts != ("images", name[:2], file.name) or file.stem != name or (
        not image.is_file() or image.is_symlink() or image.stat().st_size != one.bytes):
      return False
    body = image.read_bytes()
    return hashlib.sha256(body).hexdigest() == one.sha256 if one.sha256 else not check(body)[1]

  return {url: one for url, one in found.items()
          if one.state in (GONE, LATER) or one.state == DONE and is_there(one)}


def _stem(url: str) -> str:
  return hashlib.sha256(url.encode()).hexdigest()[:24]


def fetch(urls: Iterable[str], folder: pathlib.Path, manners: Manners, *, again: bool = False,
          report: Callable[[Outcome], None] = lambda _: None,
          sleep: Callable[[float], None] = time.sleep) -> dict[str, Outcome]:
  """Fetches what is missing; returns the outcome of every URL.

  Args:
    urls: each once.
    folder: DIR.
    manners: see `Manners`.
    again: ask again for what has failed for good.
    report: called for each new outcome.
    sleep: waits for seconds.
  """
  urls, folder = list(urls), pathlib.Path(folder)
  atomic_files.make_folder(folder)
  atomic_files.sweep(folder / "images")
  before = known(folder)
  found = {url: before[url] for url in urls if url in before and (
      before[url].state == DONE or before[url].state == GONE and not again)}
  by_host: dict[str, list[str]] = {}
  for url in urls:
    if url not in found:
      by_host.setdefault(host(url), []).append(url)
  lock, ended, rules = threading.Lock(), threading.Event(), _Rules()
  with open(folder / OUTCOMES, "a", encoding="utf-8") as log:
    if log.tell():
      log.write("\n")  # Ends the line of a killed process; empty ones are passed over.

    def write(one: Outcome) -> None:
      with lock:
        found[one.url] = one
        log.write(sealed_json.line(dataclasses.asdict(one)))
        log.flush()
        report(one)

    with concurrent.futures.ThreadPoolExecutor(manners.hosts) as threads:
      running = [threads.submit(_Host(folder, manners, sleep, rules).fetch, own, write, ended)
                 for own in by_host.values()]
      try:
        for one in concurrent.futures.as_completed(running):
          one.result()
      finally:  # After an interruption no thread begins another image.
        ended.set()
        for one in running:
          one.cancel()
  return {url: found.get(url, Outcome(url, LATER, reason="not asked for yet")) for url in urls}


class _LeftError(Exception):
  """A host that asks to be left alone for longer than a call waits."""


class _RefusedError(Exception):
  """An address that may not be asked; the message says why."""


class _Rules:
  """What the robots.txt of each host forbids, read once."""

  def __init__(self) -> None:
    self._lock = threading.Lock()
    self._found: dict[str, urllib.robotparser.RobotFileParser] = {}

  def of(self, url: str, ask: Callable[[str], tuple[str, str, bytes]]
         ) -> urllib.robotparser.RobotFileParser:
    """The rules for an address; `ask` fetches them. A host without rules forbids nothing."""
    place = f"{urllib.parse.urlsplit(url).scheme}://{host(url)}/robots.txt"
    with self._lock:
      if place in self._found:
        return self._found[place]
    state, _, body = ask(place)
    text = body.decode("utf-8", "replace")
    if state == LATER:  # A host that fails is left alone.
      raise _LeftError(f"robots.txt: {text}")
    robots = urllib.robotparser.RobotFileParser()
    try:
      robots.parse(text.splitlines() if state == DONE else [])
    except ValueError as error:  # A number of more digits than Python reads.
      raise _LeftError(f"robots.txt cannot be read: {error}") from error
    with self._lock:
      return self._found.setdefault(place, robots)


class _Guard:
  """One request: its connections, which end at the deadline and reach public addresses only."""

  def __init__(self, manners: Manners):
    self._manners, self._sockets = manners, list[socket.socket]()
    self.began, self.is_late = time.monotonic(), False
    self._timer = threading.Timer(manners.deadline, self._end)
    self._timer.daemon = True

  def __enter__(self) -> _Guard:
    self._timer.start()
    return self

  def __exit__(self, *unused: object) -> None:
    self._timer.cancel()

  def _end(self) -> None:
    """Closes what waits for an answer, its headers among them."""
    self.is_late = True
    for one in self._sockets:
      with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)

  def take(self, connected: socket.socket, asked: str) -> None:
    """Takes over a new connection; refuses one to a private address."""
    self._sockets.append(connected)
    peer = connected.getpeername()[0].partition("%")[0]
    if not self._manners.allow_private and not _is_public(peer):
      connected.close()
      raise _RefusedError(f"{asked} is the address {peer}, which is not of the public internet")

  def follow(self, connected: socket.socket) -> None:
    """Ends this socket, too, at the deadline."""
    self._sockets.append(connected)

  def read(self, answer: http.client.HTTPResponse) -> bytes:
    """The body, unpacked; an error if it is too large or comes too slowly."""
    parts, size, manners = [], 0, self._manners
    while block := answer.read1(1 << 16):
      parts.append(block)
      size += len(block)
      if size > manners.largest:
        raise _RefusedError(f"larger than {manners.largest:,} bytes")
      seconds = time.monotonic() - self.began
      if seconds > manners.timeout and size < manners.slowest * seconds:
        raise TimeoutError(f"{size:,} bytes in {seconds:.0f} s, too slow")
    if self.is_late:
      raise TimeoutError(f"not whole after {manners.deadline:g} s")
    length, body = answer.headers.get("Content-Length"), b"".join(parts)
    if length is not None and length.isdigit() and int(length) != len(body):
      raise http.client.IncompleteRead(body, int(length) - len(body))
    if answer.headers.get("Content-Encoding", "").lower() in ("gzip", "x-gzip", "deflate"):
      unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
      body = unpacker.decompress(body, manners.largest + 1)
      if len(body) > manners.largest:
        raise _RefusedError(f"larger than {manners.largest:,} bytes, unpacked")
      if not unpacker.eof:
        raise http.client.IncompleteRead(body)
    return body


def _is_public(address: str) -> bool:
  found = ipaddress.ip_address(address)
  if isinstance(found, ipaddress.IPv6Address):
    if any(found in one for one in _LOCAL):
      return False
    inside = found.ipv4_mapped or found.sixtofour
    if inside is None and any(found in one for one in _WITH_IPV4):
      inside = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
    if inside is not None:
      return inside.is_global and not inside.is_multicast
  return found.is_global and not found.is_multicast


def _connections(guard: _Guard, scheme: str) -> type[http.client.HTTPConnection]:
  """The class of connections of a scheme whose sockets the guard takes over."""
  base = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection

  class Guarded(base):  # type: ignore[valid-type, misc]
    """A connection that was looked at before anything is sent, a greeting of TLS among it."""

    def __init__(self, *args: Any, **named: Any):
      super().__init__(*args, **named)
      self._create_connection = self._guarded  # What `connect` opens its socket by.

    def _guarded(self, *args: Any, **named: Any) -> socket.socket:
      connected = socket.create_connection(*args, **named)
      guard.take(connected, self.host)
      return connected

    def connect(self) -> None:
      super().connect()
      guard.follow(self.sock)  # Of https another one than was taken.

  return Guarded


class _Handlers(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
  """Opens addresses by guarded connections."""

  def __init__(self, guard: _Guard):
    super().__init__()
    self._guard = guard

  def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
    return self.do_open(_connections(self._guard, "http"), req)

  def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
    return self.do_open(_connections(self._guard, "https"), req,
                        context=ssl.create_default_context())


class _Redirections(urllib.request.HTTPRedirectHandler):
  """Follows a redirection unless the rules of its host forbid it."""

  def __init__(self, check: Callable[[str], object]):
    self._check = check

  def redirect_request(self, req: urllib.request.Request, fp: Any, code: int, msg: str,
                       headers: Any, newurl: str) -> urllib.request.Request | None:
    if not _is_web(newurl):
      raise _RefusedError(f"it redirects to {newurl[:80]!r}, no http or https address")
    if host(newurl) != host(req.full_url):
      self._check(newurl)
    return super().redirect_request(req, fp, code, msg, headers, _encoded(newurl))


def _encoded(url: str) -> str:
  """A URL in ASCII: the name of the host in IDNA, other letters and spaces in percent."""
  parts = urllib.parse.urlsplit(url)
  name, port = parts.hostname or "", f":{parts.port}" if parts.port is not None else ""
  if not name.isascii():
    name = name.encode("idna").decode()
  if ":" in name:
    name = f"[{name}]"
  return urllib.parse.urlunsplit((
      parts.scheme, name + port, urllib.parse.quote(parts.path, "/%:=&~+!$,;'@()*[]"),
      urllib.parse.quote(parts.query, "/%:=&?~+!$,;'@()*[]"), ""))


class _Host:
  """One host: when it may be asked next, and what it forbids."""

  def __init__(self, folder: pathlib.Path, manners: Manners, sleep: Callable[[float], None],
               rules: _Rules):
    self._folder, self._manners, self._sleep, self._rules = folder, manners, sleep, rules
    self._next, self._between = 0.0, 1.0 / manners.rate
    contact = f" ({manners.contact})" if manners.contact else ""
    self._headers = {"User-Agent": f"{AGENT}{contact}", "Accept": "image/*"}

  def _opener(self, guard: _Guard) -> urllib.request.OpenerDirector:
    # No handler of file: and ftp: addresses, to which a server might redirect, and no proxy, which
    # would look up names where nothing guards them.
    opener = urllib.request.OpenerDirector()
    for handler in (_Handlers(guard), _Redirections(self._check_rules),
                    urllib.request.HTTPErrorProcessor(), urllib.request.HTTPDefaultErrorHandler(),
                    urllib.request.UnknownHandler()):
      opener.add_handler(handler)
    if self._manners.allow_private:
      opener.add_handler(urllib.request.ProxyHandler())
    return opener

  def _check_rules(self, url: str) -> urllib.robotparser.RobotFileParser:
    robots = self._rules.of(url, self._tried)
    if not robots.can_fetch(AGENT, url):
      raise _RefusedError("robots.txt of its host forbids it")
    return robots

  def fetch(self, urls: Iterable[str], write: Callable[[Outcome], None], ended: threading.Event
            ) -> None:
    """Fetches the images of this host, one after the other, until `ended` is set."""
    for url in urls:
      if ended.is_set():
        return
      try:
        robots = self._check_rules(url)
        delay = int(robots.crawl_delay(AGENT) or 0)
        if delay > _LONGEST_DELAY:
          raise _LeftError(f"robots.txt asks for {str(delay)[:12]} s or more between images, and "
                           f"at most {_LONGEST_DELAY} are waited")
        self._between = max(self._between, float(delay))
        write(self._one(url))
      except _RefusedError as error:
        write(Outcome(url, GONE, reason=str(error)))
      except _LeftError as error:
        write(Outcome(url, LATER, reason=str(error)))
        logging.warning("%s: %s; its other images are left to the next call.",
                        host(url), error)
        return

  def _one(self, url: str) -> Outcome:
    state, final, body = self._tried(url)
    if state != DONE:
      return Outcome(url, state, reason=body.decode("utf-8", "replace"))
    if _NO_PHOTO in final.rpartition("/")[2]:
      return Outcome(url, GONE, reason="the host says that the photo is unavailable")
    kind, problem = check(body)
    if problem:
      return Outcome(url, GONE, reason=problem)
    name = _stem(url)
    file = f"images/{name[:2]}/{name}{_SUFFIXES.get(kind, f'.{kind.lower()}')}"
    atomic_files.write(self._folder / file, body)
    return Outcome(url, DONE, file, len(body), sha256=hashlib.sha256(body).hexdigest())

  def _tried(self, url: str) -> tuple[str, str, bytes]:
    """(state, address after redirects, the body or the reason) after several tries."""
    reason = ""
    for number in range(self._manners.tries):
      guard: _Guard | None = None
      wait = self._next - time.monotonic()
      if wait > 0:  # The host may not be asked yet.
        self._sleep(wait)
      self._next = time.monotonic() + self._between
      try:
        request = urllib.request.Request(_encoded(url), headers=self._headers)
        with _Guard(self._manners) as guard, self._opener(guard).open(
            request, timeout=self._manners.timeout) as answer:
          return DONE, answer.geturl(), guard.read(answer)
      except _RefusedError as error:
        return GONE, url, str(error).encode()
      except urllib.error.HTTPError as error:
        reason, wait = f"HTTP {error.code}", _retry_after(error.headers.get("Retry-After"))
        error.close()
        if error.code not in _PASSING:
          return GONE, url, reason.encode()
        if wait > self._manners.longest_wait:
          raise _LeftError(f"{reason}, which asks to wait {wait:,.0f} s") from error
      except (OSError, http.client.HTTPException, ValueError, zlib.error) as error:
        reason, wait = f"{type(error).__name__}: {error}", 0.0
        if guard is not None and guard.is_late:
          reason = f"not whole after {self._manners.deadline:g} s"
      self._next = time.monotonic() + max(wait, min(2.0 ** number, self._manners.longest_wait))
    return LATER, url, f"{reason}, {self._manners.tries} times".encode()


def _retry_after(header: str | None) -> float:
  """Seconds that a server asks to wait, as a number or a date; 0 if it does not say."""
  text = (header or "").strip()
  if text.isdecimal():
    return float(text)
  try:
    return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
  except (TypeError, ValueError, IndexError):
    return 0.0


def check(body: bytes) -> tuple[str, str]:
  """Returns (format of an image, "") or ("", what is wrong with it); it is decoded whole."""
  try:
    return own_images.file_format(body, "the answer"), ""
  except ValueError as error:
    return "", str(error).partition(". ")[0]


class Listed(NamedTuple):
  """A URL, and what the list says of its image, such as {"time": ..., "label": ...}."""

  url: str
  facts: dict[str, str]


def read(paths: Sequence[pathlib.Path]) -> list[Listed]:
  """Returns the URLs of some lists, each once, in their order.

  Raises:
    errors.CurationError: a list that is none, or URLs that are not http or https; it names them.
  """
  found: dict[str, Listed] = {}
  for path in paths:
    listed = _READERS.get(path.suffix.lower(), _read_lines)(path)
    wrong = [f"{number}: {one.url!r}" for number, one in enumerate(listed, start=1)
             if not _is_web(one.url)]
    if wrong:
      more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
      raise errors.CurationError(
          f"{path}: {len(wrong)} entries are no http or https addresses: "
          f"{', '.join(wrong[:_SHOWN])}{more}. Correct them, or leave them out.")
    for one in listed:
      found.setdefault(one.url, one)
  if not found:
    raise errors.CurationError(f"There is no URL in {', '.join(map(str, paths))}.")
  return list(found.values())


def host(url: str) -> str:
  """Returns the host of a URL, with its port."""
  return urllib.parse.urlsplit(url).netloc.rpartition("@")[2].lower()


def _is_web(url: str) -> bool:
  try:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not any(
        ord(c) < 32 or ord(c) == 127 or c.isspace() and c != " " for c in url)
  except ValueError:
    return False


def _read_lines(path: pathlib.Path) -> list[Listed]:
  try:
    lines = path.read_text(encoding="utf-8").splitlines()
  except (OSError, UnicodeDecodeError) as error:
    raise errors.CurationError(f"{path} cannot be read as a list of URLs: {error}.") from error
  return [Listed(line.strip(), {}) for line in lines
          if line.strip() and not line.lstrip().startswith("#")]


def _read_table(path: pathlib.Path) -> list[Listed]:
  columns = image_table.read_columns(path, (URL, *_FACTS))
  if columns.column_names.count(URL) != 1:
    raise errors.CurationError(f"{path} has the columns {columns.column_names}; needed is 'url', "
                               "once.")
  rows = [{name: "" if value is None else str(value).strip() for name, value in row.items()}
          for row in columns.to_pylist()]
  return [Listed(row.pop(URL), row) for row in rows]


def _read_metadata(path: pathlib.Path) -> list[Listed]:
  try:
    metadata = json.loads(path.read_text(encoding="utf-8"))
    return [Listed(str(one[_CLEAR_URL]).strip(),
                   {"id": name, "time": str(one.get(_CLEAR_TIME, "")), "bucket": path.stem})
            for name, one in metadata.items()]
  except (OSError, ValueError, AttributeError, TypeError, KeyError) as error:
    raise errors.CurationError(
        f"{path} is not metadata of images in CLEAR's form, {{id: {{{_CLEAR_URL!r}: ...}}}} "
        f"({type(error).__name__}: {error}). Give all_metadata/3.json of a training archive, a "
        "table with the column 'url', or a .txt with a URL a line.") from error


_READERS = {".csv": _read_table, ".parquet": _read_table, ".json": _read_metadata}
