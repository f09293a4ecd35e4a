# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.contracts import rehearsal
from suite.data.published import numbered_samples
from suite.data.published import published_plans
from suite.data.published import published_sequences
from tests.shared import published_fluid


@pytest.fixture(name="folder")
def _folder(tmp_path, monkeypatch):
  monkeypatch.setattr(published_plans, "NUM_CLASSES", 9)  # Slot 8 has no sample.
  published_sequences._plan.cache_clear()
  published_sequences._found.cache_clear()
  return tmp_path


def test_labels_have_base_classes_first_and_keep_the_published_slots(folder):
  names, published = published_fluid.write(folder)
  plan = published_plans.read(3, folder)
  planned = plan.planned
  base = [int(label) for label in range(8) if any(
      p == label and int(n[1:9]) < 1000 for n, p in zip(names, published))]
  assert planned.num_base == 3 and plan.slots[:3].tolist() == sorted([*base, 8])
  np.testing.assert_array_equal(plan.slots[planned.labels], published)
  np.testing.assert_array_equal(plan.names, names)
  assert [planned.classes[x] for x in planned.labels] == [int(n[1:9]) for n in names]
  assert planned.ids[5] == f"3/000005/{names[5][:-5]}"
  assert published_sequences.columns(3, folder=str(folder)).tolist() == [
      *plan.slots[:3], *[-1] * 6]
  assert published_sequences.columns(3, folder=str(folder), novel="published").tolist() == (
      plan.slots.tolist())


def test_samples_are_read_when_they_are_looked_at(folder):
  published_fluid.write(folder, form="nested")
  where = {"folder": str(folder), "cache": str(folder / "cache")}
  sequence = published_sequences.sequence(3, **where)
  transform = published_sequences.samples(3, size=24, resize=32, **where)
  assert sequence.num_classes == 9 and sequence.images(2, 4).tolist() == [2, 3]
  assert sequence.codes_folder == str(folder / "cache" / "features")
  images = transform.evaluate(sequence.images(2, 4)).numpy()
  plan = published_plans.read(3, folder)
  jpeg = published_fluid.picture(int(plan.slots[plan.planned.labels[3]]), 3, (40, 48))
  expected = numbered_samples.whole_view(
    numbered_samples.decode_view(tf.constant(jpeg)), 32, 24, "bilinear"
  )
  np.testing.assert_array_equal(images[1], expected)
  np.testing.assert_array_equal(  # Images, of base classes say, get the same view.
      transform.evaluate(tf.io.decode_jpeg(jpeg, dct_method="INTEGER_ACCURATE")[None])[0], expected)
  seeds = tf.constant([7, 8], tf.uint64)
  trained = tf.function(transform.storage.train)(tf.constant([3, 3], tf.int64), seeds)
  assert trained.shape == (2, 24, 24, 3) and np.any(trained[0] != trained[1])
  # The places are read from the cache, unless the files have changed since.
  published_sequences._found.cache_clear()
  kept, = (folder / "cache").glob("places_*.npz")
  before = kept.stat().st_mtime_ns
  published_sequences.samples(3, **where)
  assert kept.stat().st_mtime_ns == before
  (folder / "fall11_whole.tar").touch()
  published_sequences._found.cache_clear()
  published_sequences.samples(3, **where)
  assert kept.stat().st_mtime_ns != before


def test_an_image_that_cannot_be_decoded_is_named(folder):
  names, _ = published_fluid.write(folder)
  (folder / names[4].split("_")[0] / names[4]).write_bytes(b"no image")
  transform = published_sequences.samples(3, folder=str(folder))
  with pytest.raises(ValueError, match=f"Image '3/000004/{names[4][:-5]}' of FLUID, sequence 3"):
    transform.evaluate(np.arange(3, 6))


def test_a_rehearsal_stands_in_for_what_is_missing(folder):
  with pytest.raises(FileNotFoundError, match=r"needs sequence4.npy.*Copy S4/sequence4.npy"):
    published_sequences.sequence(4, folder=str(folder))
  published_plans.NUM_CLASSES = 1000
  with rehearsal.begun() as rehearsed:
    sequence = published_sequences.sequence(4, folder=str(folder))
    image = published_sequences.samples(4, folder=str(folder)).evaluate(sequence.images(0, 1))
  assert (len(sequence), sequence.num_base_classes, sequence.num_classes) == (86_988, 250, 1000)
  assert image.shape == (1, 224, 224, 3) and list(rehearsed.missing) == ["FLUID, sequence 4"]


def test_the_non_stationary_sequence_takes_the_test_sequences_in_turn(folder):
  for number in (3, 4, 5):
    published_fluid.write(folder / f"S{number}", number=number, first_wnid=number)
  plans = [published_plans.read(number, folder / f"S{number}") for number in (3, 4, 5)]
  merged = published_plans.alternating(plans, segment_length=5, num_segments=6)
  planned = merged.planned
  assert [one[0] for one in planned.ids[::5]] == list("345345")
  np.testing.assert_array_equal(merged.names[5:10], plans[1].names[:5])
  np.testing.assert_array_equal(merged.names[15:20], plans[0].names[5:10])
  assert [planned.classes[x] for x in planned.labels] == [int(n[1:9]) for n in merged.names]
  assert np.all(planned.classes[:planned.num_base] < 1000 + 0) and -1 not in planned.classes
  assert len(merged.slots) == len(planned.classes)


@pytest.mark.parametrize("number, message", [
    (6, "no published sequence 6; allowed are 1, 2, 3"), ("x", "no published sequence 'x'")])
def test_unknown_sequences_are_refused(folder, number, message):
  with pytest.raises(ValueError, match=message):
    published_sequences.sequence(number, folder=str(folder))


def test_labels_that_the_head_does_not_have_are_refused(folder):
  published_fluid.write(folder, num_classes=11)
  with pytest.raises(ValueError, match="labels from 0 to 10; the head has slots 0 to 8"):
    published_sequences.sequence(3, folder=str(folder))


def test_validation_images_of_base_classes_need_the_kit(folder):
  published_fluid.write(folder)
  published_sequences._further.cache_clear()
  where = {"folder": str(folder)}
  message = "EWC and meta-trained learners need .* is not in .*Copy it"
  with pytest.raises(FileNotFoundError, match=message):
    published_sequences.base_validation(3, **where)
  transform = published_sequences.samples(3, **where)
  assert transform.evaluate(np.array([23])).shape == (1, 224, 224, 3)  # Samples do without.
  with rehearsal.begun() as rehearsed:
    numbers, labels = published_sequences.base_validation(3, **where)
    assert transform.evaluate(numbers[:1]).shape == (1, 224, 224, 3)
  assert numbers[0] == 24 and len(labels) == 2 * 50
  assert list(rehearsed.missing) == ["validation of FLUID, sequence 3"]
  published_fluid.write_validation(folder, 3, 2)
  published_sequences._further.cache_clear()
  assert len(published_sequences.base_validation(3, **where).labels) == 4
  with pytest.raises(ValueError, match="has 3 images.*none besides"):
    numbered_samples.Reader("x", np.arange(3), None).read(np.array([3]))
