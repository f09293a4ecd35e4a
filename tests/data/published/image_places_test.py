# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import pytest

from suite.data.published import image_places
from tests.shared import published_fluid
from tfds_builders import errors


@pytest.mark.parametrize("form", ["folders", "tars", "nested"])
def test_images_are_found_in_folders_tars_and_tars_within_a_tar(tmp_path, form):
  names, labels = published_fluid.write(tmp_path, form=form)
  places = image_places.find(names.tolist(), [tmp_path], "a sequence")
  for i in (0, 5, 23):
    assert places.read(i) == published_fluid.picture(int(labels[i]), i, (40, 48))
  if form == "nested":
    assert len(places.files) == 1
    found = image_places.find(names.tolist(), [tmp_path / "fall11_whole.tar"], "a sequence")
    assert found.read(7) == places.read(7)


def test_missing_classes_and_images_are_all_named_and_counted(tmp_path):
  names, _ = published_fluid.write(tmp_path)
  wnid = names[0].split("_")[0]
  for path in (tmp_path / wnid).iterdir():
    path.unlink()
  other = next(name for name in names if not name.startswith(wnid))
  (tmp_path / other.split("_")[0] / other).unlink()
  with pytest.raises(image_places.MissingImagesError) as raised:
    image_places.find(names.tolist(), [tmp_path], "FLUID, sequence 3")
  said = str(raised.value)
  assert "4 of the 24 images of FLUID, sequence 3 are missing, of 2 of its 8 classes" in said
  assert f"1 classes are missing altogether: {wnid}." in said
  assert f"1 classes lack images: {other.split('_')[0]} (1 of 3: {other})" in said


def test_a_file_that_changed_and_a_folder_that_is_not_there_are_errors(tmp_path):
  names, _ = published_fluid.write(tmp_path)
  places = image_places.find(names.tolist(), [tmp_path], "x")
  (tmp_path / names[2].split("_")[0] / names[2]).write_bytes(b"short")
  with pytest.raises(errors.DataError, match="before image 2 does. It has changed"):
    places.read(2)
  with pytest.raises(FileNotFoundError, match="There is no folder or tar"):
    image_places.find(names.tolist(), [tmp_path / "no"], "x")
