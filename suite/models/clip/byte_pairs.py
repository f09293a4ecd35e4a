# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Byte-pair encoder of CLIP's texts (Sennrich et al., 2016, on bytes), with a given vocabulary.

Ids: 256 bytes, the 256 bytes that end a word, one id per merge, start, end. The merges are lines
of two symbols, in order of priority, below one line of comment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import functools
import gzip
import hashlib
import html
import json
import pathlib
import unicodedata
import zlib

from absl import logging
import numpy as np

try:
  import ftfy
except ImportError:
  ftfy = None

START, END = "<|startoftext|>", "<|endoftext|>"
FILES = ("bpe_simple_vocab_16e6.txt.gz", "merges.txt")
# The merges that the published models were trained with: number, and BLAKE2b-128 of their lines.
PUBLISHED = (48894, "2795446fcaa487e7ca7f40bfcb44edde")
_FIXED = 2 * 256 + 2
_END_OF_WORD = "</w>"
_LARGEST_FILE = 1 << 26
_CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")


class BytePairs:
  """Encoder of texts to token ids."""

  def __init__(self, merges: Sequence[tuple[str, str]], length: int = 77):
    """merges: pairs of symbols by priority; length: L, number of ids of each text."""
    symbols = list(_symbols().values())
    tokens = [*symbols, *(s + _END_OF_WORD for s in symbols), *(a + b for a, b in merges), START,
              END]
    self.ids = {token: i for i, token in enumerate(tokens)}
    self.length, self.size = length, len(tokens)
    self._ranks = {pair: i for i, pair in enumerate(merges)}
    self._word = functools.lru_cache(maxsize=65536)(self._merged)

  def encode(self, text: str) -> list[int]:
    """Encodes one text, without start and end."""
    found: list[int] = []
    for word in words(clean(text)):
      found += self._word(word)
    return found

  def batch(self, texts: Sequence[str]) -> np.ndarray:
    """Encodes texts to int32 [n, L]: start, the text, end, zeros.

    Raises:
      ValueError: a text takes more than L - 2 tokens.
    """
    found = np.zeros([len(texts), self.length], np.int32)
    for row, text in enumerate(texts):
      ids = self.encode(text)
      if len(ids) > self.length - 2:
        raise ValueError(f"The text {text[:60]!r} takes {len(ids)} tokens; this CLIP reads at most "
                         f"{self.length - 2}. Shorten it.")
      found[row, :len(ids) + 2] = [self.ids[START], *ids, self.ids[END]]
    return found

  def _merged(self, word: str) -> list[int]:
    """Merges the pair of best rank until none is left."""
    if word in (START, END):
      return [self.ids[word]]
    table = _symbols()
    parts = [table[byte] for byte in word.encode("utf-8")]
    parts[-1] += _END_OF_WORD
    while len(parts) > 1:
      rank, pair = min((self._ranks.get(pair, len(self._ranks)), pair)
                       for pair in zip(parts, parts[1:]))
      if rank == len(self._ranks):
        break
      joined: list[str] = []
      i = 0
      while i < len(parts):
        both = (parts[i], parts[i + 1]) == pair if i + 1 < len(parts) else False
        joined.append(parts[i] + parts[i + 1] if both else parts[i])
        i += 2 if both else 1
      parts = joined
    return [self.ids[part] for part in parts]


@functools.cache
def _symbols() -> dict[int, str]:
  """One printable character for each byte: its own in Latin-1, else one from U+0100 on.

  The printable bytes come first, which is the order of the ids.
  """
  printable = [b for b in range(256) if 0x21 <= b <= 0x7E or b >= 0xA1 and b != 0xAD]
  others = [b for b in range(256) if b not in set(printable)]
  return {**{b: chr(b) for b in printable}, **{b: chr(256 + i) for i, b in enumerate(others)}}


def clean(text: str) -> str:
  """Repairs a text by ftfy where it is installed, resolves HTML entities, joins white space.

  Without ftfy, printable ASCII is cleaned in the same way; other texts are only composed (NFC),
  and a warning says so: curly quotes or wrongly decoded letters then give other tokens.
  """
  if ftfy is not None:
    text = ftfy.fix_text(text)
  elif not (text.isascii() and text.isprintable()):
    logging.warning("%r is not printable ASCII, and ftfy, by which CLIP cleans texts, is not "
                    "installed (pip install '.[curate]'): its letters are used as "
                    "they are.", text[:60])
    text = unicodedata.normalize("NFC", text)
  return " ".join(html.unescape(html.unescape(text)).split()).lower()


def words(text: str) -> Iterator[str]:
  """Divides a cleaned text: contractions, runs of letters, single digits, runs of other signs."""
  start = 0
  while start < len(text):
    end = start + 1
    kind = _kind(text[start])
    fixed = next((one for one in (START, END, *_CONTRACTIONS) if text.startswith(one, start)), "")
    if fixed:
      end = start + len(fixed)
    elif kind in "L*":
      while end < len(text) and _kind(text[end]) == kind:
        end += 1
    if kind != " ":
      yield text[start:end]
    start = end


def _kind(character: str) -> str:
  """L: letter, N: number, " ": white space, *: anything else."""
  if character.isspace():
    return " "
  category = unicodedata.category(character)[0]
  return category if category in "LN" else "*"


def load(folder: pathlib.Path, vocabulary: int, length: int) -> BytePairs:
  """Reads the merges of a folder, from one of `FILES`, for a text tower's vocabulary size.

  Raises:
    ValueError: there is no file, or it is not the vocabulary of this CLIP.
  """
  path = file(folder)
  count = vocabulary - _FIXED
  lines = _text(path).split("\n")[1:count + 1]
  merges = [tuple(line.split()) for line in lines]
  if len(merges) < count or any(len(pair) != 2 for pair in merges):
    raise ValueError(f"{path} does not have the {count} merges, lines of two symbols, that the "
                     f"vocabulary of {vocabulary} tokens needs. Give the file of this CLIP.")
  digest = hashlib.blake2b("\n".join(lines).encode("utf-8"), digest_size=16).hexdigest()
  if count == PUBLISHED[0] and digest != PUBLISHED[1]:
    raise ValueError(f"The first {count} merges of {path} have the BLAKE2b digest {digest}, those "
                     f"of the published models {PUBLISHED[1]}. Copy the file again.")
  pairs = BytePairs([(pair[0], pair[1]) for pair in merges], length)
  if pairs.size != len(pairs.ids):
    raise ValueError(f"{path} has merges with equal results. Copy the file again.")
  path = folder / "vocab.json"
  if path.is_file():  # Its ids must be those that follow from the merges.
    given, other = json.loads(_text(path)), ["(no object)"]
    if isinstance(given, dict):
      other = sorted(k for k in {*given, *pairs.ids} if given.get(k) != pairs.ids.get(k))
    if other:
      raise ValueError(f"{path} has other ids than its merges give, {len(other)} of {pairs.size}: "
                       f"{', '.join(map(repr, other[:5]))}. Give the files of one model.")
  return pairs


def file(folder: pathlib.Path) -> pathlib.Path:
  """Returns the file of merges in a folder."""
  for name in FILES:
    if (folder / name).is_file():
      return folder / name
  raise ValueError(f"{folder} has no vocabulary, {' or '.join(FILES)}. Nothing is downloaded: copy "
                   "it from OpenAI's repository CLIP, or from the model's at Hugging Face.")


def _text(path: pathlib.Path) -> str:
  opener = gzip.open if path.suffix == ".gz" else open
  try:
    with opener(path, "rb") as stream:
      content = stream.read(_LARGEST_FILE + 1)
    if len(content) > _LARGEST_FILE:
      raise ValueError(f"it has more than {_LARGEST_FILE} bytes")
    return content.decode("utf-8").replace("\r\n", "\n")
  except (OSError, EOFError, ValueError, zlib.error) as error:
    raise ValueError(f"{path} cannot be read: {error}. Copy it again.") from error
