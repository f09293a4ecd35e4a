# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Croissant metadata of a data set: JSON-LD in MLCommons' format, version 1.1.

  distribution   a FileObject for each file that a build downloads or is given, and the FileSet
                 "records": the TFRecord files that a build writes
  recordSet      "examples" with a field for each feature of the builder and one for the split,
                 "splits", and "classes" where the row has their names

A document has what the row, its files and the builder's features say, and nothing else: a license,
a size or a checksum that no row has is left out. Creators and the year are those of the cited
publication. A checksum is mandatory in Croissant unless a data set is declared live (its files may
change): a data set with a file without one is declared so, since nothing recorded rules it out.

Croissant: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html; the responsible-AI
fields: https://docs.mlcommons.org/croissant/docs/croissant-rai-spec.html.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import difflib
import functools
import json
import re
from typing import Any
import unicodedata
import urllib.parse

import numpy as np

from tfds_builders import access
from tfds_builders import catalog
from tfds_builders import errors
from tfds_builders import links
from tfds_builders import row_builder
from tfds_builders import status
from tfds_builders import timelines
from tfds_builders.rows import row as row_lib

VERSION = "http://mlcommons.org/croissant/1.1"
RAI_VERSION = "http://mlcommons.org/croissant/RAI/1.0"

_CONTEXT: dict[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs", "column": "cr:column", "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn", "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"}, "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract",
    "field": "cr:field", "fileObject": "cr:fileObject", "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet", "format": "cr:format", "includes": "cr:includes",
    "isArray": "cr:isArray", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath",
    "key": "cr:key", "md5": "cr:md5", "name": {"@container": "@language"},
    "parentField": "cr:parentField", "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/", "recordSet": "cr:recordSet",
    "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
    "replace": "cr:replace", "samplingRate": "cr:samplingRate", "sc": "https://schema.org/",
    "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField",
    "transform": "cr:transform"}

# The licenses of rows that are a known document, with its address; others stay as they are worded.
_LICENSES = {
    "CC BY 3.0": "https://creativecommons.org/licenses/by/3.0/",
    "CC BY 4.0": "https://creativecommons.org/licenses/by/4.0/",
    "CC BY-NC-SA 4.0": "https://creativecommons.org/licenses/by-nc-sa/4.0/",
    "CC0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "CDLA-Permissive-1.0": "https://spdx.org/licenses/CDLA-Permissive-1.0.html",
    "MIT": "https://spdx.org/licenses/MIT.html"}

# The end of a file's name -> its media type; the longest end that fits.
_FORMATS = {
    ".zip": "application/zip", ".tar": "application/x-tar", ".tar.gz": "application/x-tar",
    ".tgz": "application/x-tar", ".tar.bz2": "application/x-tar", ".tar.xz": "application/x-tar",
    ".gz": "application/gzip", ".bz2": "application/x-bzip2", ".xz": "application/x-xz",
    ".rar": "application/vnd.rar", ".7z": "application/x-7z-compressed", ".csv": "text/csv",
    ".tsv": "text/tab-separated-values", ".txt": "text/plain", ".json": "application/json",
    ".parquet": "application/x-parquet", ".gif": "image/gif", ".png": "image/png",
    ".jpg": "image/jpeg", ".h5": "application/x-hdf5", ".hdf5": "application/x-hdf5"}
_TFRECORD = "https://www.tensorflow.org/tutorials/load_data/tfrecord"
_KAGGLE = "https://www.kaggle.com/api/v1/datasets/download/"

# What each family is made for.
_USES = {
    "nevis": "A task of NEVIS'22 (Bornschein et al., 2023), a chronological stream of visual "
             "classification tasks.",
    "clear10": "CLEAR (Lin et al., 2021): continual learning over time buckets.",
    "clear100": "CLEAR (Lin et al., 2021): continual learning over time buckets.",
    "cfsl_omniglot": "Continual few-shot learning (Antoniou et al., 2020).",
    "slimagenet64": "Continual few-shot learning (Antoniou et al., 2020).",
    "mini_imagenet": "Few-shot learning (Ravi and Larochelle, 2017).",
    "fluid": "FLUID (Wallingford et al., 2023): learning from a sequence of single samples.",
    "lifelong_cifar10": "A source of Lifelong-CIFAR10 (Prabhu et al., 2024): evaluation of "
                        "models that cannot be evaluated in full.",
    "lifelong_imagenet": "A source of Lifelong-ImageNet (Prabhu et al., 2024): evaluation of "
                         "models that cannot be evaluated in full."}
_MAINTENANCE = "The version rises whenever the records change."

_ACCENTS = dict(zip("'`\"^~=.cvuHrk", "\u0301\u0300\u0308\u0302\u0303\u0304\u0307\u0327\u030c"
                    "\u0306\u030b\u030a\u0328"))
_LETTERS = {"ss": "ß", "ae": "æ", "AE": "Æ", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł", "o": "ø",
            "O": "Ø", "i": "i"}
_DESCRIPTIONS = {
    "image": "The encoded image.", "feature": "A vector of features in place of an image.",
    "id": "Unique in the data set.", "label": "The class; -1: none.",
    "labels": "1 for each class that the example has."}


def document(name: str, data_dir: status.DataDir = None) -> dict[str, Any]:
  """Returns the Croissant metadata of "nevis/mnist", plain values in a fixed order.

  It does not depend on what is prepared on this machine; only a timeline, which is made of a
  user's images, is read from where it is prepared.

  Args:
    name: of a data set; a variant such as "nevis/cifar10_paper" has its own.
    data_dir: where timelines are prepared; TFDS's own folder if not given.

  Raises:
    errors.DataError: there is no such data set, or the timeline is not prepared.
  """
  if status.is_timeline(name):
    family, (row, files) = status.TIMELINE, _timeline(name, data_dir)
  else:
    family, row = catalog.find(name)
    files = list(_sources(row))
  found: dict[str, Any] = {
      "@context": _CONTEXT, "@type": "sc:Dataset", "conformsTo": [VERSION, RAI_VERSION],
      "name": name, "alternateName": row.title,
      "description": " ".join(part for part in (f"{row.title}.", row.notes) if part),
      "url": row.homepage, "license": _LICENSES.get(row.license, row.license),
      "creator": _creators(row.citation), "datePublished": _year(row.citation),
      "citeAs": row.citation, "version": row.version,
      "isLiveDataset": any("sha256" not in one and "md5" not in one for one in files),
      "rai:dataUseCases": _USES.get(family, ""),
      "rai:dataPreprocessingProtocol": list(_processing(row)),
      "rai:dataLimitations": row.notes,
      "rai:dataReleaseMaintenancePlan": "" if family == status.TIMELINE else _MAINTENANCE,
      "distribution": [*files, _records(family, row)],
      "recordSet": [_splits(row), *_classes(row), _examples(family, row)]}
  return {key: value for key, value in found.items() if value not in ("", [], None, False)}


def text(made: Mapping[str, Any]) -> str:
  """Returns a document as the text of its file."""
  return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def problem(made: Mapping[str, Any]) -> str | None:
  """Returns what mlcroissant has against a document, "" if nothing; None if it is not installed."""
  try:
    import mlcroissant  # pylint: disable=g-import-not-at-top
  except ImportError:
    return None
  try:
    mlcroissant.Dataset(jsonld=json.loads(text(made)))
  except mlcroissant.ValidationError as error:
    return str(error)
  return ""


def _timeline(name: str, data_dir: status.DataDir) -> tuple[row_lib.Row, list[dict[str, Any]]]:
  """Returns the facts of a prepared timeline as a row, and the tables that it is made of."""
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  directory = status.data_directory(data_dir)
  found = status.inspect(name, directory)
  if found.state != status.PREPARED:
    known = [f"{status.TIMELINE}/{path.parent.parent.name}" for path in
             directory.glob(f"{status.TIMELINE}/*/{status.TIMELINE_VERSION}/dataset_info.json")]
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    nearest = f"The nearest there: {', '.join(near)}. " if near else ""
    raise errors.DataError(f"{name}: {found.reason}. {nearest}Make it with: {found.command}")
  info = tfds.builder_from_directory(directory / name / status.TIMELINE_VERSION).info
  label = info.features["label"]
  sums = info.metadata.get("files", {})
  row = row_lib.Row(
      name.partition("/")[2], title=info.description.rstrip("."), layouts=(), citation="",
      homepage="", splits={split: {split: 1.0} for split in sorted(info.splits)}, unique=False,
      num_classes=label.num_classes, class_names=tuple(label.names), channels=3,
      version=status.TIMELINE_VERSION,
      features={key: kind for key, kind in timelines.FEATURES.items() if key in info.features})
  return row, list(_file_objects(
      [row_lib.File(path, checksums=(f"sha256:{sums[path]}",)) for path in sums],
      lambda file: "A file that the data set was made of."))


def _sources(row: row_lib.Row) -> Iterator[dict[str, Any]]:
  """The files of the source: of the first public layout, else TFDS's, else of the first layout.

  A union has none.
  """
  layout = row.public_layout or (None if row.tfds or row.union else row.layouts[0])

  def how_to_get(file: row_lib.File) -> str:
    if row.tfds and not layout:
      return f"By hand: {row.tfds.manual}." if row.tfds.manual else ""
    if file.downloadable:
      return ""
    if layout and layout.steps:
      return f"By hand: {' '.join(layout.steps)}"
    if file.url:
      return f"An account of {access.file_kind(file)} is needed."
    where = f" Known links: {', '.join(layout.links)}." if layout and layout.links else ""
    return f"No direct link is known: put {file.name} beside this document.{where}"

  return _file_objects(layout.files if layout else _tfds_files(row), how_to_get)


def _file_objects(files: Iterable[row_lib.File], how_to_get: Callable[[row_lib.File], str]
                  ) -> Iterator[dict[str, Any]]:
  used = {"records", "splits", "classes", "examples"}
  for file in files:
    identifier = re.sub(r"[^\w.-]+", "_", file.name)
    while identifier in used:
      identifier = f"_{identifier}"
    used.add(identifier)
    # Croissant takes one, a sha256 if there is one; the description has the others.
    sums = sorted(((kind, digest) for kind, _, digest in (
        one.partition(":") for one in file.checksums)), key=lambda one: one[0] != "sha256")
    notes = [how_to_get(file), *(f"{kind} {digest} is accepted, too." for kind, digest in sums[1:]),
             "" if sums else "No checksum is recorded."]
    ends = [end for end in _FORMATS if file.name.lower().endswith(end)]
    made = {"@type": "cr:FileObject", "@id": identifier, "name": file.name,
            "description": " ".join(filter(None, notes)), "contentUrl": _address(file),
            "contentSize": "" if file.size is None else f"{file.size} B",
            "encodingFormat": (_FORMATS[max(ends, key=len)] if ends else
                               "application/octet-stream"), **dict(sums[:1])}
    yield {key: value for key, value in made.items() if value}


def _address(file: row_lib.File) -> str:
  """The URL; of a file that has none its name: it is to be put beside the document."""
  if file.url and file.url.startswith("kaggle:"):
    return _KAGGLE + file.url[len("kaggle:"):]
  return file.url or urllib.parse.quote(file.name)


def _tfds_files(row: row_lib.Row) -> list[row_lib.File]:
  """The files that TFDS's own data sets download, with TFDS's checksums."""
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  found: list[row_lib.File] = []
  for name in (one.split(":")[0] for one in (row.tfds.names if row.tfds else ())):
    known = tfds.builder_cls(name.split("/")[0]).url_infos or {}
    for url, size in links.tfds_downloads().get(name, {}).items():
      info = known.get(url)
      last = urllib.parse.unquote(urllib.parse.urlsplit(url).path.rpartition("/")[2])
      found.append(row_lib.File(
          (info.filename if info and info.filename else last) or name, url,
          (f"sha256:{info.checksum}",) if info else (), size=size))
  return found


def _records(family: str, row: row_lib.Row) -> dict[str, Any]:
  name = f"{family}/{row.name}"
  return {"@type": "cr:FileSet", "@id": "records", "name": "records",
          "description": f"The records, which tfds.load({name!r}) reads from TFDS's folder. A "
                         f"build makes them of the source: import tfds_builders, then "
                         f"tfds_builders.build({name!r}).",
          "encodingFormat": _TFRECORD, "includes": f"{name}/{row.version}/*.tfrecord-*"}


def _splits(row: row_lib.Row) -> dict[str, Any]:
  return {"@type": "cr:RecordSet", "@id": "splits", "name": "splits",
          "description": "The splits." if not row.optional else
                         f"The splits; {', '.join(row.optional)}: not in all editions.",
          "dataType": "cr:Split", "key": {"@id": "splits/name"},
          "field": [{"@type": "cr:Field", "@id": "splits/name", "name": "name",
                     "dataType": "sc:Text"}],
          "data": [{"splits/name": split} for split in row.split_names]}


def _classes(row: row_lib.Row) -> list[dict[str, Any]]:
  """The classes by their ids; [] if their names are only known when the source is read."""
  if not row.class_names:
    return []
  return [{"@type": "cr:RecordSet", "@id": "classes", "name": "classes",
           "description": "The classes.", "dataType": "sc:Enumeration",
           "key": {"@id": "classes/id"},
           "field": [{"@type": "cr:Field", "@id": "classes/id", "name": "id",
                      "dataType": "cr:Int64"},
                     {"@type": "cr:Field", "@id": "classes/name", "name": "name",
                      "dataType": "sc:Text"}],
           "data": [{"classes/id": number, "classes/name": name}
                    for number, name in enumerate(row.class_names)]}]


def _examples(family: str, row: row_lib.Row) -> dict[str, Any]:
  """The record set with a field for each feature of the builder, and one for the split."""
  fields = [_field(name, feature, row) for name, feature in row_builder.features(row).items()]
  split = {"@type": "cr:Field", "@id": "examples/split", "name": "split",
           "description": "The split, by the names of the files.", "dataType": "sc:Text",
           "source": {"fileSet": {"@id": "records"}, "extract": {"fileProperty": "filename"},
                      "transform": {"regex": rf"^{family}-(.+)\.tfrecord-\d+-of-\d+$"}},
           "references": {"field": {"@id": "splits/name"}}}
  return {"@type": "cr:RecordSet", "@id": "examples", "name": "examples",
          "description": "A record for each example.", "key": {"@id": "examples/id"},
          "field": [*fields, split]}


def _field(name: str, feature: Any, row: row_lib.Row) -> dict[str, Any]:
  """A field for a TFDS feature, which lies in the records under its name."""
  kind, shape = _data_type(feature)
  made: dict[str, Any] = {
      "@type": "cr:Field", "@id": f"examples/{name}", "name": name,
      "description": _DESCRIPTIONS.get(name, ""), "dataType": kind}
  if name == "label" and row.class_names is None:
    made["description"] = (f"The class, 0 to {row.num_classes - 1}; the names are the sorted ones "
                           "found in the source.")
  if shape:
    made["isArray"], made["arrayShape"] = True, ",".join(map(str, shape))
  made["source"] = {"fileSet": {"@id": "records"}, "extract": {"column": name}}
  if name == "label" and row.class_names:
    made["references"] = {"field": {"@id": "classes/id"}}
  return {key: value for key, value in made.items() if value}


def _data_type(feature: Any) -> tuple[str, tuple[int, ...]]:
  """Returns Croissant's type of a feature, and the shape of an array."""
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  if isinstance(feature, tfds.features.Image):
    return "sc:ImageObject", ()
  if isinstance(feature, tfds.features.Text):
    return "sc:Text", ()
  known = {"int64": "cr:Int64", "uint8": "cr:UInt8", "float32": "cr:Float32", "bool": "sc:Boolean"}
  kind = known.get(np.dtype(feature.np_dtype).name)
  if kind is None or None in feature.shape:
    raise errors.DataError(f"{feature} has no type in Croissant yet; those of {', '.join(known)} "
                           "with a fixed shape have. Add it to tfds_builders/croissant.py.")
  return kind, tuple(feature.shape)


def _processing(row: row_lib.Row) -> Iterator[str]:
  """What a build does with the source, by the row's settings."""
  if row.drawn_as_in_paper:
    yield "The splits are drawn as in the reference of NEVIS'22 (tfds_builders/paper_draws.py)."
  else:
    for source, parts in row.splits.items():
      if len(parts) > 1:
        shares = ", ".join(f"{name} {share:.0%}" for name, share in parts.items())
        yield (f"The source's split {source!r} is divided into {shares}, stratified by class, by "
               "hashes of the examples' names (tfds_builders/division.py).")
  if row.holds_images:
    yield "Images keep the bytes of their JPEG or PNG files; others are stored as PNG."
  if row.unique:
    yield "An image that occurs in two splits is kept in the later one only."


@functools.cache
def _plain(tex: str) -> str:
  """Words of BibTeX without TeX's accents and braces."""
  def accented(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", match[2] + _ACCENTS[match[1]])

  tex = re.sub(r"\\(ss|ae|AE|aa|AA|[lLoOi])(?![A-Za-z])\s*", lambda m: _LETTERS[m[1]], tex)
  tex = re.sub(r"\\(['`\"^~=.]|[cvuHrk](?![A-Za-z]))\s*\{?(\w)\}?", accented, tex)
  return " ".join(tex.replace("{", "").replace("}", "").replace("~", " ").split())


def _bibtex(citation: str, field: str) -> str:
  """The value of a field of the first entry of BibTeX, with inner braces; "" if it has none."""
  found = re.search(rf"\b{field}\s*=\s*([{{\"]?)", citation)
  if not found:
    return ""
  depth, value = 1, ""
  for letter in citation[found.end():]:
    depth += {"{": 1, "}": -1}.get(letter, 0)
    if depth == 0 or (depth == 1 and letter == {"{": "", '"': '"', "": ","}[found[1]]):
      break
    value += letter
  return value


def _creators(citation: str) -> list[dict[str, str]]:
  """The authors of the cited publication."""
  names: Sequence[str] = re.split(r"\s+and\s+", _bibtex(citation, "author").strip())
  made = []
  for name in names:
    last, _, first = _plain(name).partition(", ")
    if last and last != "others":
      kind = "sc:Organization" if name.startswith("{") and not first else "sc:Person"
      made.append({"@type": kind, "name": f"{first} {last}".strip()})
  return made


def _year(citation: str) -> str:
  found = re.search(r"\d{4}", _bibtex(citation, "year"))
  return found[0] if found else ""
