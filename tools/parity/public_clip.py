# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes CLIPs with generated weights and what Hugging Face's transformers compute with them.

  PYTHON tools/parity/public_clip.py FOLDER [--size small|ViT-B/32] [--vocabulary FILE] [--resnet]

PYTHON has torch, transformers, safetensors and ftfy. FOLDER gets model.safetensors, config.json,
merges.txt, and answers.npz: pixels, ids and texts with the embeddings. `--resnet OPENAI` makes one
with a ResNet instead (RN50 with --size ViT-B/32), by clip/model.py of a checkout of OpenAI's
repository; its weights follow from their names. clip_parity.py compares.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import pathlib

import generated_weights
import numpy as np
import safetensors.torch
import torch
import transformers

TEXTS = ["a photo of a cat", "laptop, computer", "", "  Two\t spaces &amp;amp; tabs\n",
         "don't I'll", "naïve café Ünïcode", "12345 x2", "日本語 のカメラ", "😀😀!!!...",
         "a<|endoftext|>b", "it's's", "\u201ccurly\u201d quotes\u2019s",
         "Ⅷ ½ ² x", "schÃ¶n", "a_b-c/d"]
MEAN, STD = (.48145466, .4578275, .40821073), (.26862954, .26130258, .27577711)


def _merges(vocabulary: pathlib.Path | None) -> list[str]:
  """Merges by count in a short text, or those of OpenAI's file."""
  if vocabulary:
    return gzip.open(vocabulary).read().decode("utf-8").split("\n")[1:48895]
  return ["a t", "t o</w>", "p h", "ph o", "c at</w>", "c a", "pho to</w>", "i n", "a b", "1 2",
          "! !", "l a", "la p", "lap to", "e r</w>", "o f</w>", "d on", "o n", "' s</w>", "Ã ¶"]


def _tokenizer(folder: pathlib.Path, merges: list[str]) -> transformers.CLIPTokenizer:
  symbols = list(transformers.models.clip.tokenization_clip.bytes_to_unicode().values())
  tokens = [*symbols, *(s + "</w>" for s in symbols), *(m.replace(" ", "") for m in merges),
            "<|startoftext|>", "<|endoftext|>"]
  (folder / "vocab.json").write_text(json.dumps({t: i for i, t in enumerate(tokens)}))
  (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n", "utf-8")
  return transformers.CLIPTokenizer(folder / "vocab.json", folder / "merges.txt")


def _config(size: str, tokenizer) -> transformers.CLIPConfig:
  end = tokenizer.convert_tokens_to_ids("<|endoftext|>")
  text = {"vocab_size": len(tokenizer), "bos_token_id": end - 1, "eos_token_id": end,
          "pad_token_id": 0}
  if size != "small":
    return transformers.CLIPConfig(text_config=text)
  body = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 8,
          "intermediate_size": 16}
  return transformers.CLIPConfig(
      projection_dim=6, text_config={**text, **body, "max_position_embeddings": 24},
      vision_config={**body, "image_size": 12, "patch_size": 4})


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("folder", type=pathlib.Path)
  parser.add_argument("--size", default="small", choices=("small", "ViT-B/32"))
  parser.add_argument("--vocabulary", type=pathlib.Path)
  parser.add_argument("--resnet", type=pathlib.Path, metavar="OPENAI")
  args = parser.parse_args()
  args.folder.mkdir(parents=True, exist_ok=True)
  torch.manual_seed(0)
  tokenizer = _tokenizer(args.folder, _merges(args.vocabulary))
  config = _config(args.size, tokenizer)
  length = config.text_config.max_position_embeddings
  coded = [tokenizer(text)["input_ids"] for text in TEXTS]
  texts = [text for text, ids in zip(TEXTS, coded) if len(ids) <= length]
  ids = np.array([i + [0] * (length - len(i)) for i in coded if len(i) <= length], np.int32)
  answers = _of_resnet(args, config, ids) if args.resnet else _of_transformers(args, config, ids)
  np.savez_compressed(args.folder / "answers.npz", ids=ids, texts=np.array(texts), **answers)


def _randomize(model: torch.nn.Module) -> None:
  """Makes every weight count: biases and norms are not left at 0 and 1."""
  generator = torch.Generator().manual_seed(1)
  for name, value in [*model.named_parameters(), *model.named_buffers()]:
    if value.is_floating_point():
      noise = torch.randn(value.shape, generator=generator)
      if name.endswith("running_var"):
        value.data = 1 + 0.2 * noise.abs()
      elif value.dim() == 1 and name.endswith("weight"):
        value.data = 1 + 0.1 * noise
      else:
        fan = value[0].numel() if value.dim() > 1 else 100
        value.data = noise * fan ** -0.5


def _pixels(size: int, num: int) -> tuple[np.ndarray, torch.Tensor]:
  pixels = generated_weights.pixels(size, num)
  scaled = (torch.tensor(pixels / 255.) - torch.tensor(MEAN)) / torch.tensor(STD)
  return pixels, scaled.permute(0, 3, 1, 2).float()


def _of_transformers(args, config, ids: np.ndarray) -> dict[str, np.ndarray]:
  model = transformers.CLIPModel(config).eval()
  _randomize(model)
  model.save_pretrained(args.folder)
  pixels, scaled = _pixels(config.vision_config.image_size, 3)
  with torch.no_grad():
    image = model.visual_projection(model.vision_model(pixel_values=scaled).pooler_output)
    text = model.text_projection(model.text_model(
        input_ids=torch.tensor(ids.astype(np.int64))).pooler_output)
  return {"pixels": pixels, "image": image.numpy(), "text": text.numpy()}


def _of_resnet(args, config, ids: np.ndarray) -> dict[str, np.ndarray]:
  spec = importlib.util.spec_from_file_location("openai_clip", args.resnet / "clip/model.py")
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  small = args.size == "small"
  blocks, width, size = ((1, 2, 1, 1), 4, 64) if small else ((3, 4, 6, 3), 64, 224)
  text = (64, 1, 2) if small else (512, 8, 12)
  model = module.CLIP(1024 if not small else 6, size, blocks, width, None, ids.shape[1],
                      config.text_config.vocab_size, *text).eval()
  state = {key: torch.tensor(generated_weights.weight(key, tuple(value.shape)))
           if value.is_floating_point() else value for key, value in model.state_dict().items()}
  model.load_state_dict(state)
  safetensors.torch.save_file(state, args.folder / "model.safetensors")
  pixels, scaled = _pixels(size, 2)
  with torch.no_grad():
    image = model.encode_image(scaled)
    words = model.encode_text(torch.tensor(ids.astype(np.int64)))
  return {"pixels": pixels, "image": image.numpy(), "text": words.numpy()}


if __name__ == "__main__":
  main()
