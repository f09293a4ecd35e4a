# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLIP against the outputs of another implementation, and weights that do not fit.

small_clip/ was made by `tools/parity/public_clip.py FOLDER` (transformers 4.57.6, torch 2.13.0).
"""

import json
import pathlib
import shutil

import numpy as np
import pytest
import safetensors_writer

from suite.models.clip import architecture
from suite.models.clip import byte_pairs
from suite.models.clip import weight_files

FOLDER = pathlib.Path(__file__).parent / "small_clip"


@pytest.fixture(name="answers", scope="module")
def _answers():
  with np.load(FOLDER / "answers.npz", allow_pickle=False) as file:
    return dict(file)


def _as_openai(arrays):
  """The same weights by OpenAI's names: joint projections, embeddings' matrices turned."""
  clip = architecture.from_config(json.loads((FOLDER / "config.json").read_text()))
  found = {}
  for one in [*weight_files.image_weights(clip), *weight_files.text_weights(clip)]:
    array = arrays[one.huggingface]
    if one.part is None:
      found[one.openai] = array.T if one.turned else array
    else:
      found.setdefault(one.openai, []).append(array)
  return {k: np.concatenate(v) if isinstance(v, list) else v for k, v in found.items()}


def test_both_towers_equal_the_reference_in_both_layouts(answers, tmp_path):
  safetensors_writer.write(tmp_path / "model.safetensors",
         _as_openai(weight_files.read(FOLDER / "model.safetensors")))
  shutil.copy(FOLDER / "config.json", tmp_path)
  for folder in (FOLDER, tmp_path):
    towers = weight_files.load(folder)
    image = towers.image(answers["pixels"].astype(np.float32), training=False)
    np.testing.assert_allclose(image, answers["image"], atol=1e-5)
    np.testing.assert_allclose(towers.text(answers["ids"], training=False), answers["text"],
                               atol=1e-5)


def test_token_ids_equal_the_reference(answers):
  pairs = byte_pairs.load(FOLDER, 534, 24)
  for text, ids in zip(answers["texts"].tolist(), answers["ids"]):
    if byte_pairs.ftfy is not None or not set(text) & set("\u201c\u00c3"):  # Repaired by ftfy.
      assert pairs.batch([text])[0].tolist() == ids.tolist(), text
  with pytest.raises(ValueError, match="takes 40 tokens; this CLIP reads at most 22"):
    pairs.batch(["z" * 40])


def test_the_vocabulary_must_be_that_of_the_weights(tmp_path):
  with pytest.raises(ValueError, match="has no vocabulary, bpe_simple_vocab_16e6.txt.gz or merges"):
    byte_pairs.load(tmp_path, 534, 24)
  with pytest.raises(ValueError, match="does not have the 48894 merges"):
    byte_pairs.load(FOLDER, 49408, 77)
  lines = ["#", *(f"{chr(0x4e00 + i // 256)} {chr(0x4e00 + i % 256)}" for i in range(48894))]
  (tmp_path / "merges.txt").write_text("\n".join(lines), "utf-8")
  with pytest.raises(ValueError, match="have the BLAKE2b digest .*those of the published"):
    byte_pairs.load(tmp_path, 49408, 77)
  shutil.copy(FOLDER / "merges.txt", tmp_path)
  (tmp_path / "vocab.json").write_text('{"!": 1}')
  with pytest.raises(ValueError, match="has other ids than its merges give, 534 of 534"):
    byte_pairs.load(tmp_path, 534, 24)


def test_weights_of_another_clip_are_listed(tmp_path):
  arrays = dict(weight_files.read(FOLDER / "model.safetensors"))
  with pytest.raises(ValueError, match=r"another CLIP than ViT-B/32 says .*"
                     r"class_embedding is \[8\], expected \[768\]; .* and \d+ more"):
    weight_files.load(FOLDER, "ViT-B/32")
  with pytest.raises(ValueError, match="no CLIP with a ResNet"):
    weight_files.load(FOLDER, "RN50")
  with pytest.raises(ValueError, match="Unknown CLIP 'B'; allowed are RN50, RN101, ViT-B/32"):
    weight_files.load(FOLDER, "B")
  arrays["odd"] = arrays.pop("text_projection.weight")
  safetensors_writer.write(tmp_path / "model.safetensors", arrays)
  shutil.copy(FOLDER / "config.json", tmp_path)
  with pytest.raises(ValueError, match=r"text_projection.weight \[6, 8\] is missing; odd \[6, 8\]"):
    weight_files.load(tmp_path)
  (tmp_path / "config.json").unlink()
  with pytest.raises(ValueError, match="not weights of a CLIP: 'text_projection.weight' is not th"):
    weight_files.load(tmp_path)
  (tmp_path / "model.safetensors").rename(tmp_path / "ViT-B-32.pt")
  with pytest.raises(ValueError, match="no model.safetensors; it has ViT-B-32.pt.*are not read"):
    weight_files.load(tmp_path)


@pytest.mark.parametrize("name", architecture.KNOWN)
def test_published_architectures_follow_from_their_shapes(name):
  clip = architecture.KNOWN[name]
  layouts = ["openai"] if name.startswith("RN") else ["openai", "huggingface"]
  for layout in layouts:
    weights = [*weight_files.image_weights(clip), *weight_files.text_weights(clip)]
    shapes = {getattr(one, layout): one.shape_in_file(layout) for one in weights}
    assert architecture.from_shapes(shapes) == clip


@pytest.mark.parametrize("content, message", [
    (b"", "its header would take"), (b"\xff" * 20, "its header would take"),
    (b"PK\x03\x04" + b"\xff" * 20, "a PyTorch archive, which holds pickled"),
    (b"\x02" + bytes(7) + b"xx", "is no JSON"), (b"\x02" + bytes(7) + b"[]", "is no JSON object"),
    ({"a": {"dtype": "F8", "shape": [1], "data_offsets": [0, 4]}}, "needed are a dtype"),
    ({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, "needed are a dtype"),
    ({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, "takes 8 bytes"),
    ({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, "takes 8 bytes, but is said"),
    ({n: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]} for n in "ab"}, "arrays overlap"),
    ({}, "the arrays end at byte 0 of 4")])
def test_files_that_are_not_safetensors(tmp_path, content, message):
  if isinstance(content, dict):
    text = json.dumps(content).encode()
    content = len(text).to_bytes(8, "little") + text + bytes(4)
  (tmp_path / "x").write_bytes(content)
  with pytest.raises(ValueError, match=message):
    weight_files.read(tmp_path / "x")


def test_half_precision_is_widened(tmp_path):
  text = json.dumps({"h": {"dtype": "F16", "shape": [2], "data_offsets": [0, 4]},
                     "b": {"dtype": "BF16", "shape": [], "data_offsets": [4, 6]}}).encode()
  (tmp_path / "x").write_bytes(len(text).to_bytes(8, "little") + text + np.array(
      [1.5, -2], np.float16).tobytes() + b"\xc0\x3f")  # 0x3fc0: 1.5.
  found = weight_files.read(tmp_path / "x")
  assert found["h"].tolist() == [1.5, -2] and found["b"] == 1.5 and found["h"].dtype == np.float32
