# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lifelong-CIFAR10 and Lifelong-ImageNet (Prabhu et al., 2024): the sources of their samples.

All are test sets: every row has the split `test` alone. The paper removes copies, so the sizes
after a build may be below the published ones and are not checked. `union` is all sources together,
without the copies across them; rows that end in _generated are ours and in no union.
"""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import corrupted
from tfds_builders.parsers import corruption_arrays
from tfds_builders.parsers import domain_folders
from tfds_builders.parsers import image_arrays
from tfds_builders.parsers import imagenet_validation
from tfds_builders.parsers import objectnet
from tfds_builders.parsers import one_domain
from tfds_builders.parsers import open_images
from tfds_builders.rows import imagenet_classes
from tfds_builders.rows.nevis.object import cifar10
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_TEST_ONLY = {splits.TEST: {splits.TEST: 1.0}}
_DOMAIN = {"domain": "text"}
_CORRUPTED = {"domain": "text", "severity": "int64"}
KINDS = (
    "gaussian_noise", "shot_noise", "impulse_noise", "defocus_blur", "glass_blur", "motion_blur",
    "zoom_blur", "snow", "frost", "fog", "brightness", "contrast", "elastic_transform", "pixelate",
    "jpeg_compression", "speckle_noise", "gaussian_blur", "spatter", "saturate")
_PAPER = "https://arxiv.org/abs/2402.19472"
_UNION = ("Made of the prepared data sets of its family; of equal images (bytes) the one with the "
          "least id is kept, whatever its label. Ids begin with the name of the source, and the "
          "metadata says how many copies each lost and which sources were left out.")
# The clean test images: file, parser and its arguments.
_CLEAN = (
    (cifar10.ROW.layouts[0].files[0],
     {"parser": "cifar_binary", "parser_args": {"batches": {"test_batch.bin": splits.TEST}}}, ""),
    (File("cifar10-jpg.tar.xz", None,
          ("sha256:3448a12cf05fbc56035b1ee2e5b172c150e4997ec8b5bb6c92c7fbc098fbcb72",)),
     {"parser": "class_folders",
      "parser_args": {"template": "{split}/{label}/{item}.jpg",
                      "split_folders": {"train": splits.TRAIN, "test": splits.TEST}}},
     "A JPEG copy, slightly lossy; its examples have other ids than those of the binary version."))
_CIFAR10_W = {
    "360": ("data_360_cartoon_original", "data_360_original"),
    "baidu": ("data_baidu_cartoon_original", "data_baidu_original"),
    "bing": ("bing_cartoon_original", "data_bing_original"),
    "diffusion": ("diffusion_cartoon_original", "diffusion_hard_original", "diffusion_original"),
    "flickr": ("data_flickr_original",), "google": ("data_google_original",),
    "pexels": ("data_pexel_original",), "sogou": ("data_sougou_original",)}
_PEOPLE = "https://people.eecs.berkeley.edu/~hendrycks/"
# Part -> size of its archive.
_V2 = {"matched-frequency": 1264079360, "threshold0.7": 1249906176, "top-images": 1245927936}
_C_FAMILIES = ("blur", "digital", "extra", "noise", "weather")
_VALIDATION = (File("ILSVRC2012_img_val.tar", None, ("md5:29b22e2961454d5413ddabcf34fc5622",),
                    size=6744924160),
               File("ILSVRC2012_devkit_t12.tar.gz", None,
                    ("md5:fa75699e90414af021442c21a62c3abf",)))
_BY_IMAGENET = "Both files are at https://image-net.org/download-images; an account is needed."
_VALIDATION_ARGS = {"image_file": "ILSVRC2012_img_val.tar",
                    "kit_file": "ILSVRC2012_devkit_t12.tar.gz", "domain": "imagenet"}
_TESTBED = ("https://raw.githubusercontent.com/modestyachts/imagenet-testbed/"
            "4ce1ad9c0ee460f8be11e63fda0cbc6ebb75d5bb/")
# Set of generated images -> its title and its folder.
_SDNET = {
    "base": ("Base-Generated-ImageNet-1K", "https://drive.google.com/drive/folders/"
             "1-jLyiJ_S-VZMS5zQNR6e1xDOAkAVJxvs"),
    "finetuned": ("Finetuned-Generated-ImageNet-1K", "https://drive.google.com/drive/folders/"
                  "1xVBcCrae1JrmOCoHHNWCw5UN6XAOoupk")}
_BY_ACCOUNT = "non-commercial research, by account"


def _bibtex(key: str, title: str, author: str, year: int) -> str:
  return f"@misc{{{key},\n  title={{{title}}},\n  author={{{author}}},\n  year={{{year}}}\n}}"


def _cifar(name: str, title: str, layouts, *, features=None, **values) -> Row:
  return Row(name, title=title, layouts=layouts, splits=_TEST_ONLY, num_classes=10,
             class_names=cifar10.ROW.class_names, channels=3, features=features or _DOMAIN,
             **values)


def _imagenet(name: str, title: str, layouts, *, features=None, **values) -> Row:
  return Row(name, title=title, layouts=layouts, splits=_TEST_ONLY, num_classes=1000,
             class_names=imagenet_classes.WNIDS, channels=3, features=features or _DOMAIN, **values)


_PRABHU = _bibtex("prabhu2024lifelong", "Efficient lifelong model evaluation in an era of rapid "
                  "progress", "Prabhu, Ameya and Udandarao, Vishaal and Torr, Philip and Bethge, "
                  "Matthias and Bibi, Adel and Albanie, Samuel", 2024)
_KRIZHEVSKY = _bibtex("krizhevsky2009learning",
                      "Learning multiple layers of features from tiny images",
                      "Krizhevsky, Alex", 2009)
_HENDRYCKS = _bibtex(
    "hendrycks2019robustness",
    "Benchmarking neural network robustness to common corruptions and perturbations",
    "Hendrycks, Dan and Dietterich, Thomas", 2019)


_CIFAR10_ROWS = (
    _cifar("cifar10", "CIFAR-10, test images",
           tuple(Layout(one_domain, files=(file,), args={**args, "domain": "cifar10"}, notes=notes,
                        built_from_real=file.name == "cifar10-jpg.tar.xz")
                 for file, args, notes in _CLEAN),
           homepage="https://www.cs.toronto.edu/~kriz/cifar.html", citation=_KRIZHEVSKY),
    _cifar("cifar10_1", "CIFAR-10.1 (v6)",
           (Layout(image_arrays,
                   files=tuple(File(f"cifar10.1_v6_{part}.npy", "https://raw.githubusercontent.com/"
                                    f"modestyachts/CIFAR-10.1/master/datasets/cifar10.1_v6_{part}"
                                    ".npy", size=size)
                               for part, size in (("data", 6144128), ("labels", 8128))),
                   args={"parts": {"v6": ("cifar10.1_v6_data.npy", "cifar10.1_v6_labels.npy")},
                         "domain": "cifar10_1"}),),
           homepage="https://github.com/modestyachts/CIFAR-10.1", license="MIT",
           citation=_bibtex("recht2018cifar10.1",
                            "Do CIFAR-10 classifiers generalize to CIFAR-10?",
                            "Recht, Benjamin and Roelofs, Rebecca and Schmidt, Ludwig and "
                            "Shankar, Vaishaal", 2018)),
    _cifar("cifar10_2", "CIFAR-10.2, training and test images",
           (Layout(image_arrays,
                   files=tuple(File(f"cifar102_{part}.npz", "https://raw.githubusercontent.com/"
                                    f"modestyachts/cifar-10.2/master/cifar102_{part}.npz")
                               for part in ("train", "test")),
                   args={"parts": {part: (f"cifar102_{part}.npz:images",
                                          f"cifar102_{part}.npz:labels")
                                   for part in ("train", "test")}, "domain": "cifar10_2"}),),
           notes="The benchmark evaluates on all 12,000 images. Early editions are pickles (.npy) "
                 "and are not read.",
           homepage="https://github.com/modestyachts/cifar-10.2",
           citation=_bibtex("lu2020harder", "Harder or different? A closer look at distribution "
                            "shift in dataset reproduction", "Lu, Shangyun and Nott, Bradley and "
                            "Olson, Aaron and others", 2020)),
    _cifar("cinic10", "CINIC-10, the images from ImageNet",
           (Layout(domain_folders,
                   files=(File("CINIC-10.tar.gz", "https://datashare.ed.ac.uk/bitstream/handle/"
                               "10283/3192/CINIC-10.tar.gz"),),
                   args={"template": "{split}/{label}/{item}", "skip": r"cifar10-.*",
                         "domains": {"CINIC-10.tar.gz": "cinic10"}}),),
           notes="All three splits; the 60,000 images that are CIFAR-10's own are left out, which "
                 "leaves the benchmark's 210,000.",
           homepage="https://datashare.ed.ac.uk/handle/10283/3192", license="MIT",
           citation=_bibtex("darlow2018cinic", "CINIC-10 is not ImageNet or CIFAR-10",
                            "Darlow, Luke N. and Crowley, Elliot J. and Antoniou, Antreas and "
                            "Storkey, Amos J.", 2018)),
)


CIFAR10_ROWS = _CIFAR10_ROWS + (
    _cifar("cifar10_w", "CIFAR-10-Warehouse",
           (Layout(domain_folders,
                   files=tuple(File(f"{name}.zip") for names in _CIFAR10_W.values()
                               for name in names),
                   args={"template": "{set}/{label}/{item}",
                         "domains": {f"{name}.zip": f"cifar10_w/{domain}"
                                     for domain, names in _CIFAR10_W.items() for name in names}},
                   separate_files=False),),
           notes="180 sets from seven image search engines and from diffusion models, which are "
                 "the 8 domains. Images have their original sizes. Links are given on request.",
           homepage="https://github.com/sxzrt/CIFAR-10-W", license="research use, on request",
           citation=_bibtex("sun2024cifar", "CIFAR-10-Warehouse: Broad and more realistic testbeds "
                            "in model generalization analysis", "Sun, Xiaoxiao and Leng, Xingjian "
                            "and Wang, Zijian and others", 2024)),
    _cifar("cifar10_c", "CIFAR-10-C",
           (Layout(corruption_arrays,
                   files=(File("CIFAR-10-C.tar", "https://zenodo.org/records/2535967/files/"
                               "CIFAR-10-C.tar", ("md5:56bf5dcef84df0e2308c6dcbcbbd8499",),
                               size=2918471680),),
                   args={"kinds": KINDS, "domain": "cifar10_c/{kind}"}),),
           features=_CORRUPTED, homepage="https://zenodo.org/records/2535967", license="CC BY 4.0",
           citation=_HENDRYCKS),
    _cifar("cifar10_c_generated", "CIFAR-10 test images in 19 corruptions and 5 severities",
           tuple(Layout(corrupted, files=(file,), notes=notes,
                        args={**args, "level_set": "cifar", "domain": "cifar10_c_generated/{kind}"})
                 for file, args, notes in _CLEAN),
           features=_CORRUPTED,
           notes="Made here (tfds_builders/corruptions), with the kinds and levels of CIFAR-10-C "
                 "and other random numbers; a pure function of each clean image and its id. Motion "
                 "blur, glass blur, spatter and frost (a texture instead of photographs) differ "
                 "from the published ones, as their modules say. About one in a thousand equals "
                 "another one (spatter without a drop) and is left out as a copy.",
           homepage="https://github.com/hendrycks/robustness", citation=_HENDRYCKS),
    _cifar("union", "Lifelong-CIFAR10, all sources without copies", (),
           union=("cifar10", "cifar10_1", "cifar10_2", "cinic10", "cifar10_w", "cifar10_c"),
           features=_CORRUPTED, homepage=_PAPER, citation=_PRABHU,
           notes="Images have their own sizes; the paper's have 32 x 32 pixels. " + _UNION))


_RUSSAKOVSKY = _bibtex("russakovsky2015imagenet",
                       "ImageNet large scale visual recognition challenge",
                       "Russakovsky, Olga and Deng, Jia and Su, Hao and others", 2015)

IMAGENET_ROWS = (
    _imagenet("imagenet", "ImageNet, validation images",
              (Layout(imagenet_validation, files=_VALIDATION, args=_VALIDATION_ARGS,
                      notes=_BY_IMAGENET),),
              homepage="https://image-net.org/", license=_BY_ACCOUNT, citation=_RUSSAKOVSKY),
    _imagenet("imagenet_v2", "ImageNet-V2, three test sets",
              (Layout(domain_folders,
                      files=tuple(File(f"imagenetv2-{name}.tar.gz", "https://huggingface.co/datasets"
                                       f"/vaishaal/ImageNetV2/resolve/main/imagenetv2-{name}.tar.gz",
                                       size=size) for name, size in _V2.items()),
                      args={"template": "{label}/{item}", "numbers": True,
                            "domains": {f"imagenetv2-{name}.tar.gz": f"imagenet_v2/{name}"
                                        for name in _V2}}),),
              notes="The three sets overlap; an image is kept once, under the least of its ids.",
              homepage="https://github.com/modestyachts/ImageNetV2", license="MIT",
              citation=_bibtex("recht2019imagenet", "Do ImageNet classifiers generalize to "
                               "ImageNet?", "Recht, Benjamin and Roelofs, Rebecca and Schmidt, "
                               "Ludwig and Shankar, Vaishaal", 2019)),
    _imagenet("imagenet_a", "ImageNet-A",
              (Layout(domain_folders, files=(File("imagenet-a.tar", _PEOPLE + "imagenet-a.tar",
                                                  size=687552512),),
                      args={"template": "{label}/{item}",
                            "domains": {"imagenet-a.tar": "imagenet_a"}}),),
              notes="200 of the 1,000 classes.", license="MIT",
              homepage="https://github.com/hendrycks/natural-adv-examples",
              citation=_bibtex("hendrycks2021natural", "Natural adversarial examples",
                               "Hendrycks, Dan and Zhao, Kevin and Basart, Steven and others",
                               2021)),
    _imagenet("imagenet_r", "ImageNet-R",
              (Layout(domain_folders, files=(File("imagenet-r.tar", _PEOPLE + "imagenet-r.tar",
                                                  size=2191079936),),
                      args={"template": "{label}/{domain}_{item}",
                            "domains": {"imagenet-r.tar": "imagenet_r/{domain}"}}),),
              notes="200 of the 1,000 classes; the domain is the rendition in the file's name.",
              homepage="https://github.com/hendrycks/imagenet-r", license="MIT",
              citation=_bibtex("hendrycks2021many", "The many faces of robustness",
                               "Hendrycks, Dan and Basart, Steven and Mu, Norman and others",
                               2021)),
    _imagenet("imagenet_sketch", "ImageNet-Sketch",
              (Layout(domain_folders, files=(File("ImageNet-Sketch.zip", size=7593573012),),
                      args={"template": "{label}/{item}",
                            "domains": {"ImageNet-Sketch.zip": "imagenet_sketch"}}),),
              homepage="https://github.com/HaohanWang/ImageNet-Sketch", license="MIT",
              citation=_bibtex("wang2019learning", "Learning robust global representations by "
                               "penalizing local predictive power", "Wang, Haohan and Ge, Songwei "
                               "and Lipton, Zachary and Xing, Eric P.", 2019)),
    _imagenet("imagenet_c", "ImageNet-C",
              (Layout(domain_folders,
                      files=tuple(File(f"{name}.tar", "https://zenodo.org/records/2235448/files/"
                                       f"{name}.tar") for name in _C_FAMILIES),
                      args={"template": "{domain}/{severity}/{label}/{item}",
                            "domains": {f"{name}.tar": "imagenet_c/{domain}"
                                        for name in _C_FAMILIES}},
                      separate_files=False),),
              features=_CORRUPTED,
              notes="All 19 kinds and 5 severities; it is not known which of them the benchmark's "
                    "1.98 million samples hold.",
              homepage="https://zenodo.org/records/2235448", license="CC BY 4.0",
              citation=_HENDRYCKS),
    _imagenet("imagenet_c_generated", "ImageNet validation images, 19 corruptions, 5 severities",
              (Layout(corrupted, files=_VALIDATION, notes=_BY_IMAGENET,
                      args={"parser": "imagenet_validation", "parser_args": _VALIDATION_ARGS,
                            "level_set": "imagenet", "domain": "imagenet_c_generated/{kind}",
                            "side": 224}),),
              features=_CORRUPTED,
              notes="Made here (tfds_builders/corruptions) from the middle 224 x 224 pixels, "
                    "with the kinds and levels of ImageNet-C and other random numbers; stored as "
                    "PNG, where the published images are JPEG. 4.75 million images, some 500 GB.",
              homepage="https://github.com/hendrycks/robustness", license=_BY_ACCOUNT,
              citation=_HENDRYCKS),
    _imagenet("objectnet", "ObjectNet, the 113 classes that are ImageNet's",
              (Layout(objectnet, files=(File("objectnet-1.0.tar"),), args={"domain": "objectnet"},
                      steps=("download objectnet-1.0.zip from https://objectnet.dev/download.html "
                             "and unpack it with the password that the page gives;",
                             "tar -cf DIR/objectnet-1.0.tar objectnet-1.0 (its folders images and "
                             "mappings)")),),
              features={**_DOMAIN, "also": "text"}, license="for tests only, terms of its own",
              homepage="https://objectnet.dev/",
              notes="18,514 images in the paper, as ImageNet Testbed has them. Where a class of "
                    "ObjectNet is several of ImageNet's (chair), the label is the first, and "
                    "`also` has the others, which are right, too. Images keep their red border: "
                    "cut 2 pixels from each side.",
              citation=_bibtex("barbu2019objectnet", "ObjectNet: A large-scale bias-controlled "
                               "dataset for pushing the limits of object recognition models",
                               "Barbu, Andrei and Mayo, David and Alverio, Julian and others",
                               2019)),
    _imagenet("openimagesnet", "Open Images, test images of one class of ImageNet",
              (Layout(open_images,
                      files=(File("test.tar.gz", "https://s3.amazonaws.com/open-images-dataset/tar/"
                                  "test.tar.gz"),
                             File("test-annotations-human-imagelabels.csv",
                                  "https://storage.googleapis.com/openimages/v5/"
                                  "test-annotations-human-imagelabels.csv"),
                             File("ilsvrc_to_openimages.json", _TESTBED +
                                  "src/eval_settings/openimages_metadata/"
                                  "ilsvrc_to_openimages.json")),
                      args={"image_file": "test.tar.gz", "class_file": "ilsvrc_to_openimages.json",
                            "label_file": "test-annotations-human-imagelabels.csv",
                            "domain": "openimagesnet"}),),
              homepage="https://storage.googleapis.com/openimages/web/index.html",
              license="CC BY 2.0 (images)",
              notes="23,104 images in the paper, the size of ImageNet Testbed's set, which lists "
                    "its images by their place in an archive of its own; here they are found by "
                    "its rule, one human label among 414 of ImageNet's classes, and their number "
                    "was not compared. The archive has 36 GB.",
              citation=_bibtex("kuznetsova2020open", "The Open Images dataset V4", "Kuznetsova, "
                               "Alina and Rom, Hassan and Alldrin, Neil and others", 2020)),
    _imagenet("greyscale", "ImageNet, validation images without color",
              (Layout(one_domain, files=_VALIDATION, notes=_BY_IMAGENET,
                      args={"parser": "imagenet_validation", "parser_args": _VALIDATION_ARGS,
                            "domain": "greyscale", "grey": True}),),
              homepage="https://github.com/modestyachts/imagenet-testbed", license=_BY_ACCOUNT,
              notes="Made here: 0.299 R + 0.587 G + 0.114 B in three channels, the rule of "
                    "ImageNet Testbed, rounded to 8 bits and stored as PNG (some 10 GB), "
                    "where the testbed converts an image after it was cut.",
              citation=_bibtex("taori2020measuring", "Measuring robustness to natural distribution "
                               "shifts in image classification", "Taori, Rohan and Dave, Achal and "
                               "Shankar, Vaishaal and others", 2020)),
    _imagenet("stylized", "Stylized-ImageNet, validation images",
              (Layout(domain_folders, files=(File("stylized-imagenet-val.tar"),),
                      args={"template": "val/{label}/{item}",
                            "domains": {"stylized-imagenet-val.tar": "stylized"}},
                      steps=("make it with create_stylized_imagenet.sh of "
                             "https://github.com/rgeirhos/Stylized-ImageNet, from ImageNet and the "
                             "paintings of Kaggle's painter-by-numbers (a GPU, 134 GB with the "
                             "training images);",
                             "tar -cf DIR/stylized-imagenet-val.tar val (a folder for each WordNet "
                             "id)")),),
              homepage="https://github.com/rgeirhos/Stylized-ImageNet", license="MIT (code)",
              notes="Nobody publishes the images. Paintings are drawn at random, so yours differ "
                    "from the paper's.",
              citation=_bibtex("geirhos2019imagenet", "ImageNet-trained CNNs are biased towards "
                               "texture; increasing shape bias improves accuracy and robustness",
                               "Geirhos, Robert and Rubisch, Patricia and Michaelis, Claudio and "
                               "others", 2019)),
    _imagenet("sdnet", "Images of Stable Diffusion for ImageNet's classes",
              (Layout(domain_folders,
                      files=tuple(File(f"generated-imagenet-{name}-val.tar") for name in _SDNET),
                      args={"template": "val/{label}/{item}",
                            "domains": {f"generated-imagenet-{name}-val.tar": f"sdnet/{name}"
                                        for name in _SDNET}},
                      steps=tuple(f"save the folder val of {title}, {link}, and tar -cf "
                                  f"DIR/generated-imagenet-{name}-val.tar val (a folder for each "
                                  "WordNet id)" for name, (title, link) in _SDNET.items())),),
              homepage="https://github.com/Hritikbansal/generative-robustness",
              license="MIT (code)",
              notes="The paper has 98,706 images after it removed copies and cites Bansal and "
                    "Grover, who publish two sets of 50,000 such images, base and fine-tuned; that "
                    "these are the paper's is our reading. Its 19 domains of SDNet are not "
                    "explained.",
              citation=_bibtex("bansal2023leaving", "Leaving reality to imagination: Robust "
                               "classification via generated datasets",
                               "Bansal, Hritik and Grover, Aditya", 2023)),
    _imagenet("laionnet", "LAIONet, images of LAION-400M for ImageNet's classes",
              (Layout(domain_folders, files=(File("laionet.tar"),),
                      args={"template": "{label}/{item}", "domains": {"laionet.tar": "laionnet"}},
                      steps=("download the parquet file of https://github.com/alishiraliGit/"
                             "eval-on-laion: a table of URLs with WordNet ids;",
                             "fetch what is still there (`suite data fetch_urls` takes a .parquet "
                             "with the column url) into a folder for each WordNet id;",
                             "tar -cf DIR/laionet.tar n*/")),),
              homepage="https://github.com/alishiraliGit/eval-on-laion",
              license="copyright of each image",
              notes="The paper has 677,597 of the table's 822,000 images; which URLs answered then "
                    "is not published, and fewer answer now. Labels were not checked by people, "
                    "and unsafe images are not removed.",
              citation=_bibtex("shirali2023what", "What makes ImageNet look unlike LAION",
                               "Shirali, Ali and Hardt, Moritz", 2023)),
    _imagenet("union", "Lifelong-ImageNet, all sources without copies", (),
              union=("imagenet_a", "objectnet", "openimagesnet", "imagenet_v2", "imagenet_r",
                     "imagenet", "greyscale", "stylized", "imagenet_sketch", "sdnet", "laionnet",
                     "imagenet_c"),
              features={**_CORRUPTED, "also": "text"}, homepage=_PAPER, citation=_PRABHU,
              notes=_UNION))
