# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Model files: what is allowed loads with its weights, and everything else is refused unread."""

from __future__ import annotations

import copy
import json
import pydoc
import sys
import zipfile

import h5py
import numpy as np
import pytest
import tensorflow as tf

from suite.models import keras_cv_models
from suite.models import model_files
from suite.models import vit
from suite.models.clip import architecture

EVIL = {"module": "hostile", "class_name": "function", "config": "run", "registered_name": "run"}
CLASS = {"module": "hostile", "class_name": "Run", "config": {}, "registered_name": "Run"}
CODE = ["4wEAAAAAAAAAAAAAAAMAAAADAAAA8wAAAACXAHwAUwA=\n", None, None]
LAMBDA = {"class_name": "Lambda", "config": {"name": "l", "function": CODE, "arguments": {},
                                             "function_type": "lambda", "module": "hostile"}}


def _layer(class_name, **config):
  return {"module": "keras.layers", "class_name": class_name, "registered_name": None,
          "config": {"name": "x", "trainable": True, "dtype": "float32", **config}}


def _function(layer, name):
  return _layer(layer, function=name)


# What a layer of the model is replaced by, or what its settings are.
OBJECTS = {
    "a Lambda that pages through a command": _layer(
        "Lambda", function_type="function", arguments={"cmd": "id"},
        function={"module": "pydoc", "class_name": "function", "config": "pipepager",
                  "registered_name": "pipepager"}),
    "a Lambda of byte code": LAMBDA,
    "a registered Lambda": {**LAMBDA, "registered_name": "Custom>Lambda"},
    "a Lambda of another module": {**LAMBDA, "module": "hostile"},
    "a function as a layer": EVIL,
    "a function of Python": {**EVIL, "module": "builtins", "config": "eval"},
    "a class of another module": CLASS,
    "a class of Python": {**CLASS, "module": "subprocess", "class_name": "Popen"},
    "a registered function of keras-cv": {**CLASS, "registered_name": "keras_cv>load"},
    "a loader of keras-cv": {**CLASS, "registered_name": "keras_cv.datasets.imagenet>load"},
    "an optimizer": {**CLASS, "registered_name": "Custom>SGD"},
    "another package": {**CLASS, "registered_name": "hostile>Run"},
    "a preset by name": {**CLASS, "registered_name": "keras_cv>ResNet18Backbone"},
    "a name that is no text": {"class_name": ["Dense"], "config": {}},
    "a class that is an object": {"class_name": EVIL, "config": {}},
    "a base class": _layer("Layer"),
    "a wrapper": _layer("Wrapper", layer=_layer("Dense", units=1)),
    "a SavedModel": _layer("TFSMLayer", filepath="/tmp/x"),
    "JAX": _layer("JaxLayer", call_fn=EVIL),
    "PyTorch": _layer("TorchModuleWrapper", module="x"),
    "a vocabulary of a file": _layer("StringLookup", vocabulary="/etc/passwd"),
    "a vocabulary of numbers": _layer("IntegerLookup", vocabulary="/etc/passwd"),
    "texts": _layer("TextVectorization", standardize=EVIL),
    "a method of a class": _layer("ClassMethod", cls_symbol="io.gfile.GFile", method_name="read"),
    "a method of an instance": _layer("InstanceMethod", attr_name="__class__"),
    "a property": _layer("InstanceProperty", attr_name="__class__"),
    "a file that is read": _function("TFOpLambda", "io.read_file"),
    "a file that is written": _function("TFOpLambda", "io.write_file"),
    "a Python function": _function("TFOpLambda", "py_function"),
    "a NumPy function": _function("TFOpLambda", "numpy_function"),
    "a shared library": _function("TFOpLambda", "load_op_library"),
    "a printed tensor": _function("TFOpLambda", "print"),
    "a model that is loaded": _function("TFOpLambda", "keras.models.load_model"),
    "an operation that is an object": _function("TFOpLambda", EVIL),
    "no operation": _layer("TFOpLambda"),
    "a slice that is none": _function("SlicingOpLambda", "io.read_file"),
    "a code object": {"class_name": "__lambda__", "config": {"value": CODE}},
    "a type": {"class_name": "__typespec__", "spec_name": "Run", "module": "hostile",
               "registered_name": None, "config": []},
    "an old type": {"class_name": "TypeSpec", "type_spec": "x", "serialized": []},
    "a composite tensor": {"class_name": "CompositeTensor", "spec": {}, "tensors": []},
    "bytes": {"class_name": "__bytes__", "config": {"value": "x"}},
    "an array of objects": {"class_name": "__numpy__", "config": {"value": [], "dtype": "O"}},
    "a tuple of nothing": {"class_name": "__tuple__", "items": "x"},
    "a wrapped Lambda": _layer("TimeDistributed", layer=LAMBDA),
    "a wrapped function": _layer("Bidirectional", layer=EVIL),
    "cells of another module": _layer("RNN", cell=[CLASS]),
    "a Lambda in a model": _layer("Sequential", layers=[_layer("InputLayer"), LAMBDA]),
    "a Lambda as an argument": {**_layer("Dense", units=1),
                                "inbound_nodes": [[["image", 0, 0, {"training": LAMBDA}]]]},
    "a Lambda in a tuple": {**_layer("Dense", units=1), "inbound_nodes": [
        {"class_name": "__tuple__", "items": [LAMBDA]}]},
    "a class to build with": {**_layer("Dense", units=1), "build_config": {"input_shape": CLASS}},
    "an activation of another module": _layer("Dense", activation=EVIL),
    "an activation by a name with a module": _layer("Dense", activation="os.system"),
    "an activation that deserializes": _layer("Dense", activation="deserialize"),
    "an inner activation": _layer("GRU", recurrent_activation="get"),
    "an activation in a package": _layer("Dense", activation={**EVIL, "config": "hostile>run"}),
    "an initializer of another module": _layer("Dense", kernel_initializer=CLASS),
    "an initializer of Python": _layer("Dense", kernel_initializer="subprocess.Popen"),
    "an initializer in a package": _layer(
        "Dense", bias_initializer={**CLASS, "module": "keras.initializers"}),
    "a layer as an initializer": _layer("Dense", bias_initializer=LAMBDA),
    "a regularizer of another module": _layer("Dense", activity_regularizer=CLASS),
    "a regularizer that is none": _layer("Dense", kernel_regularizer="open"),
    "a constraint of another module": _layer("Dense", kernel_constraint=CLASS),
    "a constraint that is none": _layer("Dense", kernel_constraint="eval"),
    "a policy with a class": _layer("Dense", dtype={"class_name": "Policy", "config": CLASS}),
    "a policy that is none": _layer("Dense", dtype={"class_name": "DTypePolicy",
                                                    "config": {"name": "hostile"}}),
}


class _Swish(tf.keras.layers.Layer):
  """Somebody's layer."""

  def call(self, inputs):
    return inputs * tf.sigmoid(inputs)


@pytest.fixture(scope="module")
def model():
  """A model with operations, a residual block, a nested model and objects of every kind."""
  layers = tf.keras.layers
  inputs = tf.keras.Input((6, 6, 3), name="image")
  inner = tf.keras.Sequential([tf.keras.Input((6, 6, 4)), layers.Conv2D(
      4, 3, padding="same", kernel_initializer="he_normal", kernel_regularizer="l2",
      activation="swish")], name="inner")
  x = layers.Conv2D(4, 1, kernel_constraint="non_neg", bias_initializer=tf.keras.initializers.
                    Constant(0.5), activation=tf.nn.relu)(inputs / 127.5 - 1.0)
  x = x + inner(x)
  x = x * tf.nn.relu6(x + 3.0) * 0.5
  x = layers.LayerNormalization()(layers.Reshape((36, 4))(x)[:, ::2])
  x = layers.MultiHeadAttention(2, 2)(x, x)
  # Keras traces more graphs for a GRU that is reset after its product.
  x = layers.Bidirectional(layers.GRU(3, return_sequences=True, reset_after=False))(x)
  return tf.keras.Model(inputs, layers.GlobalAveragePooling1D(dtype="mixed_bfloat16")(x))


@pytest.fixture(scope="module")
def stored(model, tmp_path_factory):
  """Folder with model.keras and model.h5."""
  folder = tmp_path_factory.mktemp("models")
  model.compile("sgd", "mse")  # The settings of a training are not read.
  for name in ("model.keras", "model.h5"):
    model.save(folder / name)
  return folder


@pytest.fixture(autouse=True)
def _nothing_runs(tmp_path, monkeypatch):
  """Importing the module `hostile`, or paging, fails the test."""
  (tmp_path / "hostile.py").write_text("raise SystemExit('imported')\n")
  monkeypatch.syspath_prepend(str(tmp_path))
  monkeypatch.setattr(pydoc, "pipepager", lambda *_, **__: pytest.fail("a command was run"))
  yield
  assert "hostile" not in sys.modules


def _described(model):
  """The description of a model; how layers were built and where they lie is no part of it."""
  left_out = ("build_config", "module", "registered_name")
  return json.dumps(json.loads(model.to_json(), object_hook=lambda part: {
      name: value for name, value in part.items() if name not in left_out}), indent=1)


def _config(stored):
  with zipfile.ZipFile(stored / "model.keras") as archive:
    return json.loads(archive.read("config.json"))


def _replaced(stored, place, members):
  """model.keras with other members; None: without one."""
  with zipfile.ZipFile(stored / "model.keras") as old, zipfile.ZipFile(place, "w") as new:
    for name in old.namelist():
      content = members.get(name, old.read(name))
      if content is not None:
        new.writestr(name, content)
    for name in set(members) - set(old.namelist()):
      new.writestr(name, members[name])
  return place


@pytest.mark.parametrize("name", ["model.keras", "model.h5"])
def test_an_allowed_model_loads_with_its_weights(model, stored, name, monkeypatch):
  def refused(*_, **__):
    pytest.fail("Keras's loader was called")

  monkeypatch.setattr(tf.keras.models, "load_model", refused)
  found = model_files.load(stored / name)
  images = np.random.default_rng(0).integers(0, 256, [2, 6, 6, 3]).astype(np.float32)
  np.testing.assert_array_equal(found(images), model(images))
  assert _described(found) == _described(model)
  assert found.optimizer is None


@pytest.fixture(scope="module", name="described_again")
def _described_again(model):
  return model_files.from_config(json.loads(model.to_json()), "here")


def test_a_description_in_json_makes_the_same_model(model, described_again):
  assert _described(described_again) == _described(model)


def test_layers_of_keras_cv_the_suite_and_applications_are_known(tmp_path):
  cv = keras_cv_models.library()
  image = tf.keras.Input((32, 32, 3))
  body = cv.models.ResNetBackbone(
      stackwise_filters=[64], stackwise_blocks=[1], stackwise_strides=[1], block_type="basic_block",
      include_rescaling=False, input_shape=(32, 32, 3))
  tokens = tf.keras.layers.Dense(4)(tf.keras.layers.Reshape((-1, 4))(body(image)))
  tokens = vit.Tokens()(tokens)
  tokens = cv.layers.TransformerEncoder(project_dim=4, mlp_dim=8, num_heads=2)(tokens)
  scale = sys.modules[tf.keras.applications.convnext.ConvNeXtTiny.__module__].LayerScale
  tokens = scale(0.5, 4)(tf.keras.layers.Dense(4, activation=architecture.quick_gelu)(
      tokens))
  before = tf.keras.Model(image, tf.keras.layers.GlobalAveragePooling1D()(tokens))
  before.save(tmp_path / "m.keras")
  after = model_files.load(tmp_path / "m.keras")
  images = np.random.default_rng(0).random([1, 32, 32, 3]).astype(np.float32)
  np.testing.assert_array_equal(after(images), before(images))


def test_every_public_layer_of_keras_is_allowed_or_refused():
  layers = {name for name, one in vars(tf.keras.layers).items() if isinstance(one, type)}
  allowed, refused = model_files.allowed("layers"), model_files.allowed("refused")
  assert not layers - allowed - refused
  assert not allowed & refused


@pytest.mark.parametrize("case", OBJECTS)
def test_an_object_that_is_not_allowed_is_refused(stored, tmp_path, case, monkeypatch):
  monkeypatch.setattr(tf.keras.layers, "deserialize", lambda *_: pytest.fail("Keras was called"))
  config = _config(stored)
  config["config"]["layers"].insert(2, copy.deepcopy(OBJECTS[case]))
  place = _replaced(stored, tmp_path / "m.keras", {"config.json": json.dumps(config)})
  with pytest.raises(model_files.ModelFileError, match="which is not allowed"):
    model_files.load(place)
  config["config"]["layers"] = [OBJECTS[case]]
  with h5py.File(tmp_path / "m.h5", "w") as file:
    file.attrs["model_config"] = json.dumps(config)
  with pytest.raises(model_files.ModelFileError, match="which is not allowed"):
    model_files.load(tmp_path / "m.h5")


def test_modules_of_the_file_are_ignored(model, stored, tmp_path):
  config = _config(stored)

  def moved(value):
    if isinstance(value, list):
      return [moved(part) for part in value]
    if not isinstance(value, dict):
      return value
    value = {name: moved(part) for name, part in value.items()}
    is_layer = "module" in value and "initializers" not in str(value["module"])
    return {**value, "module": "hostile"} if is_layer else value

  config = {**moved(config), "compile_config": {"optimizer": CLASS, "loss": EVIL}}
  place = _replaced(stored, tmp_path / "m.keras", {"config.json": json.dumps(config)})
  assert _described(model_files.load(place)) == _described(model)


def test_classes_of_the_caller_are_allowed(tmp_path):
  inputs = tf.keras.Input((4,))
  tf.keras.Model(inputs, _Swish()(inputs)).save(tmp_path / "m.keras")
  with pytest.raises(model_files.ModelFileError, match="holds the .* '(Custom>)?_Swish'"):
    model_files.load(tmp_path / "m.keras")
  found = model_files.load(tmp_path / "m.keras", custom_objects={"_Swish": _Swish})
  assert isinstance(found.layers[-1], _Swish)


def _bomb(path):
  with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("model.weights.h5", bytes(40 << 20))


def _hdf5(path, write):
  with h5py.File(path, "w") as file:
    write(file)
  return path.read_bytes()


def _virtual(file):
  layout = h5py.VirtualLayout((2,), "f4")
  layout[:] = h5py.VirtualSource("other.h5", "x", (2,))
  file.create_virtual_dataset("v", layout)


ARRAYS = {
    "a link to another file": lambda f: f.__setitem__("x", h5py.ExternalLink("/etc/x.h5", "/")),
    "a link to another place": lambda f: f.__setitem__("x", h5py.SoftLink("/nowhere")),
    "an array in another file": lambda f: f.create_dataset(
        "x", (2,), "u1", external=[("/etc/passwd", 0, 2)]),
    "an array of other arrays": _virtual,
    "an array far larger than the file": lambda f: f.create_dataset(
        "x", (1 << 40,), "f4", chunks=True),
    "a deep array far larger": lambda f: f.create_dataset(
        "a/b/c", (1 << 40,), "f4", chunks=True),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_weights_lie_in_the_file_itself(stored, tmp_path, case):
  content = _hdf5(tmp_path / "w.h5", ARRAYS[case])
  place = _replaced(stored, tmp_path / "m.keras", {"model.weights.h5": content})
  for path in (place, tmp_path / "w.h5"):
    with pytest.raises(model_files.ModelFileError, match="in the file|weights are like that"):
      model_files.load(path)
  with pytest.raises(model_files.ModelFileError, match="in the file|weights are like that"):
    model_files.load_weights(None, tmp_path / "w.h5")


MEMBERS = {
    "no description": ({"config.json": None}, "once each, and nothing else"),
    "no weights": ({"model.weights.h5": None}, "once each"),
    "a place outside": ({"../evil.py": "x"}, "holds ../evil.py"),
    "an absolute place": ({"/tmp/evil.py": "x"}, "once each"),
    "assets": ({"assets/layer/vocabulary.txt": "x"}, "once each"),
    "no JSON": ({"config.json": "{"}, "not described in JSON"),
    "no UTF-8": ({"config.json": b"\xff\xfe{}"}, "cannot be read as a .keras file"),
    "deep JSON": ({"config.json": "[" * 100_000}, "not described in JSON"),
    "deep values": ({"config.json": json.dumps({"class_name": "Sequential", "config": {
        "layers": json.loads("[" * 300 + "]" * 300)}})}, "levels deep"),
    "a number": ({"config.json": "1"}, "describes no model"),
    "a list": ({"config.json": "[]"}, "describes no model"),
    "nothing": ({"config.json": "{}"}, "describes no model"),
    "a layer": ({"config.json": json.dumps(_layer("Dense", units=1))}, "no model, but a Dense"),
    "a model without layers": ({"config.json": json.dumps(_layer("Functional"))}, "cannot be made"),
    "a wrong number": ({"config.json": json.dumps(_layer("Sequential", layers=[
        _layer("Dense", units="many")]))}, "cannot be made"),
    "a large description": ({"config.json": " " * (33 << 20)}, "allowed are 33,554,432"),
    "weights that are none": ({"model.weights.h5": b"x" * 4096}, "cannot be read as a .keras"),
    "no array": ({"model.weights.h5": b""}, "cannot be read as a .keras"),
    "a version without a loader": ({"metadata.json": '{"keras_version": "3.15.1"}'},
                                   "stored by Keras 3.15.1, which is not installed"),
    "versions that are none": ({"metadata.json": "[" * 100_000}, "cannot be read as a .keras"),
}


@pytest.mark.parametrize("case", MEMBERS)
def test_a_damaged_or_crafted_archive_is_one_error(stored, tmp_path, case, monkeypatch):
  members, message = MEMBERS[case]
  if case == "a version without a loader":
    monkeypatch.setattr(model_files.importlib, "import_module", lambda _: None)
  place = _replaced(stored, tmp_path / "m.keras", members)
  with pytest.raises(model_files.ModelFileError, match=message):
    model_files.load(place)


def test_a_file_that_is_no_model_is_one_error(stored, tmp_path):
  whole = (stored / "model.keras").read_bytes()
  (tmp_path / "folder").mkdir()
  (tmp_path / "cut.keras").write_bytes(whole[:len(whole) // 2])
  (tmp_path / "flipped.keras").write_bytes(whole.replace(b"kernel_init", b"kernel_inXt"))
  (tmp_path / "empty.keras").write_bytes(b"")
  (tmp_path / "m.pkl").write_bytes(whole)
  (tmp_path / "text.h5").write_text("no HDF5")
  (tmp_path / "bomb.keras").write_bytes(_replaced(
      stored, tmp_path / "a.keras", {"model.weights.h5": None}).read_bytes())
  _bomb(tmp_path / "bomb.keras")
  (tmp_path / "twice.keras").write_bytes(whole)
  with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(
      tmp_path / "twice.keras", "a") as archive:
    archive.writestr("config.json", "{}")
  for name, message in (
      ("folder", "is a folder. A SavedModel is a graph"), ("cut.keras", "cannot be read as"),
      ("flipped.keras", "cannot be read as"), ("empty.keras", "cannot be read as"),
      ("m.pkl", "allowed are .keras, .h5 and .hdf5"), ("text.h5", "cannot be read as HDF5"),
      ("bomb.keras", "no weights are like that"), ("twice.keras", "once each"),
      ("missing.keras", "cannot be read as")):
    with pytest.raises(model_files.ModelFileError, match=message):
      model_files.load(tmp_path / name)


def test_weights_alone_go_into_a_model(model, stored, described_again, tmp_path):
  model.save_weights(tmp_path / "w.h5")
  model.save_weights(tmp_path / "w.weights.h5")
  with pytest.raises(model_files.ModelFileError, match="holds weights without a model"):
    model_files.load(tmp_path / "w.h5")
  for place in (tmp_path / "w.h5", tmp_path / "w.weights.h5", stored / "model.keras"):
    described_again.set_weights([0 * weight - 1 for weight in described_again.get_weights()])
    model_files.load_weights(described_again, place)
    for one, two in zip(model.get_weights(), described_again.get_weights()):
      np.testing.assert_array_equal(one, two)
  with pytest.raises(model_files.ModelFileError, match="is no file of weights"):
    model_files.load_weights(model, tmp_path / "checkpoint")
