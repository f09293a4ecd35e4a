# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: kinds of flowers, cars, aircraft and dishes, named by lists and tables."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import listed_images
from tfds_builders.parsers import mat_labels
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_PAPER = {splits.TRAIN: paper_draws.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")}

_FLOWERS_URL = "https://www.robots.ox.ac.uk/~vgg/data/flowers/17/"

OXFORD_FLOWERS_17 = Row(
    "oxford_flowers_17",
    title="Oxford Flowers, 17 categories",
    layouts=(Layout(
        mat_labels,
        files=(File("17flowers.tgz", _FLOWERS_URL + "17flowers.tgz",
                    ("md5:b59a65d8d1a99cd66944d474e1289eab",)),
               File("datasplits.mat", _FLOWERS_URL + "datasplits.mat",
                    ("md5:4828cddfd0d803c5abbdebcb1e148a1e",))),
        args={"table": "datasplits.mat", "image": "jpg/{item}.jpg",
              "number_format": "image_{:04d}", "images_per_class": 80,
              "numbers": {"trn1": splits.TRAIN, "val1": splits.VALIDATION, "tst1": splits.TEST}},
        num_examples={splits.TRAIN: 680, splits.VALIDATION: 340, splits.TEST: 340}),),
    splits={name: {name: 1.0} for name in splits.NAMES},
    paper={splits.TRAIN: paper_draws.TRAIN_DEV, splits.VALIDATION: paper_draws.whole("dev_test"),
           splits.TEST: paper_draws.whole("test")},
    paper_size=680,
    num_classes=17,
    class_names=("daffodil", "snowdrop", "lily of the valley", "bluebell", "crocus", "iris",
                 "tigerlily", "tulip", "fritillary", "sunflower", "daisy", "coltsfoot",
                 "dandelion", "cowslip", "buttercup", "windflower", "pansy"),
    channels=3,
    homepage="https://www.robots.ox.ac.uk/~vgg/data/flowers/17/",
    notes="The first of the three published splits. The archive numbers its images and does not "
          "name the classes; their names are those of the publisher's page, in its order.",
    citation="""@inproceedings{nilsback2006visual,
  title={A visual vocabulary for flower classification},
  author={Nilsback, Maria-Elena and Zisserman, Andrew},
  booktitle={Conference on Computer Vision and Pattern Recognition},
  year={2006}
}""")

_CARS = (
  "AM General Hummer SUV 2000", "Acura RL Sedan 2012", "Acura TL Sedan 2012",
  "Acura TL Type-S 2008", "Acura TSX Sedan 2012", "Acura Integra Type R 2001",
  "Acura ZDX Hatchback 2012", "Aston Martin V8 Vantage Convertible 2012",
  "Aston Martin V8 Vantage Coupe 2012", "Aston Martin Virage Convertible 2012",
  "Aston Martin Virage Coupe 2012", "Audi RS 4 Convertible 2008", "Audi A5 Coupe 2012",
  "Audi TTS Coupe 2012", "Audi R8 Coupe 2012", "Audi V8 Sedan 1994", "Audi 100 Sedan 1994",
  "Audi 100 Wagon 1994", "Audi TT Hatchback 2011", "Audi S6 Sedan 2011", "Audi S5 Convertible 2012",
  "Audi S5 Coupe 2012", "Audi S4 Sedan 2012", "Audi S4 Sedan 2007", "Audi TT RS Coupe 2012",
  "BMW ActiveHybrid 5 Sedan 2012", "BMW 1 Series Convertible 2012", "BMW 1 Series Coupe 2012",
  "BMW 3 Series Sedan 2012", "BMW 3 Series Wagon 2012", "BMW 6 Series Convertible 2007",
  "BMW X5 SUV 2007", "BMW X6 SUV 2012", "BMW M3 Coupe 2012", "BMW M5 Sedan 2010",
  "BMW M6 Convertible 2010", "BMW X3 SUV 2012", "BMW Z4 Convertible 2012",
  "Bentley Continental Supersports Conv. Convertible 2012", "Bentley Arnage Sedan 2009",
  "Bentley Mulsanne Sedan 2011", "Bentley Continental GT Coupe 2012",
  "Bentley Continental GT Coupe 2007", "Bentley Continental Flying Spur Sedan 2007",
  "Bugatti Veyron 16.4 Convertible 2009", "Bugatti Veyron 16.4 Coupe 2009", "Buick Regal GS 2012",
  "Buick Rainier SUV 2007", "Buick Verano Sedan 2012", "Buick Enclave SUV 2012",
  "Cadillac CTS-V Sedan 2012", "Cadillac SRX SUV 2012", "Cadillac Escalade EXT Crew Cab 2007",
  "Chevrolet Silverado 1500 Hybrid Crew Cab 2012", "Chevrolet Corvette Convertible 2012",
  "Chevrolet Corvette ZR1 2012", "Chevrolet Corvette Ron Fellows Edition Z06 2007",
  "Chevrolet Traverse SUV 2012", "Chevrolet Camaro Convertible 2012", "Chevrolet HHR SS 2010",
  "Chevrolet Impala Sedan 2007", "Chevrolet Tahoe Hybrid SUV 2012", "Chevrolet Sonic Sedan 2012",
  "Chevrolet Express Cargo Van 2007", "Chevrolet Avalanche Crew Cab 2012",
  "Chevrolet Cobalt SS 2010", "Chevrolet Malibu Hybrid Sedan 2010", "Chevrolet TrailBlazer SS 2009",
  "Chevrolet Silverado 2500HD Regular Cab 2012",
  "Chevrolet Silverado 1500 Classic Extended Cab 2007", "Chevrolet Express Van 2007",
  "Chevrolet Monte Carlo Coupe 2007", "Chevrolet Malibu Sedan 2007",
  "Chevrolet Silverado 1500 Extended Cab 2012", "Chevrolet Silverado 1500 Regular Cab 2012",
  "Chrysler Aspen SUV 2009", "Chrysler Sebring Convertible 2010",
  "Chrysler Town and Country Minivan 2012", "Chrysler 300 SRT-8 2010",
  "Chrysler Crossfire Convertible 2008", "Chrysler PT Cruiser Convertible 2008",
  "Daewoo Nubira Wagon 2002", "Dodge Caliber Wagon 2012", "Dodge Caliber Wagon 2007",
  "Dodge Caravan Minivan 1997", "Dodge Ram Pickup 3500 Crew Cab 2010",
  "Dodge Ram Pickup 3500 Quad Cab 2009", "Dodge Sprinter Cargo Van 2009", "Dodge Journey SUV 2012",
  "Dodge Dakota Crew Cab 2010", "Dodge Dakota Club Cab 2007", "Dodge Magnum Wagon 2008",
  "Dodge Challenger SRT8 2011", "Dodge Durango SUV 2012", "Dodge Durango SUV 2007",
  "Dodge Charger Sedan 2012", "Dodge Charger SRT-8 2009", "Eagle Talon Hatchback 1998",
  "FIAT 500 Abarth 2012", "FIAT 500 Convertible 2012", "Ferrari FF Coupe 2012",
  "Ferrari California Convertible 2012", "Ferrari 458 Italia Convertible 2012",
  "Ferrari 458 Italia Coupe 2012", "Fisker Karma Sedan 2012", "Ford F-450 Super Duty Crew Cab 2012",
  "Ford Mustang Convertible 2007", "Ford Freestar Minivan 2007", "Ford Expedition EL SUV 2009",
  "Ford Edge SUV 2012", "Ford Ranger SuperCab 2011", "Ford GT Coupe 2006",
  "Ford F-150 Regular Cab 2012", "Ford F-150 Regular Cab 2007", "Ford Focus Sedan 2007",
  "Ford E-Series Wagon Van 2012", "Ford Fiesta Sedan 2012", "GMC Terrain SUV 2012",
  "GMC Savana Van 2012", "GMC Yukon Hybrid SUV 2012", "GMC Acadia SUV 2012",
  "GMC Canyon Extended Cab 2012", "Geo Metro Convertible 1993", "HUMMER H3T Crew Cab 2010",
  "HUMMER H2 SUT Crew Cab 2009", "Honda Odyssey Minivan 2012", "Honda Odyssey Minivan 2007",
  "Honda Accord Coupe 2012", "Honda Accord Sedan 2012", "Hyundai Veloster Hatchback 2012",
  "Hyundai Santa Fe SUV 2012", "Hyundai Tucson SUV 2012", "Hyundai Veracruz SUV 2012",
  "Hyundai Sonata Hybrid Sedan 2012", "Hyundai Elantra Sedan 2007", "Hyundai Accent Sedan 2012",
  "Hyundai Genesis Sedan 2012", "Hyundai Sonata Sedan 2012",
  "Hyundai Elantra Touring Hatchback 2012", "Hyundai Azera Sedan 2012", "Infiniti G Coupe IPL 2012",
  "Infiniti QX56 SUV 2011", "Isuzu Ascender SUV 2008", "Jaguar XK XKR 2012",
  "Jeep Patriot SUV 2012", "Jeep Wrangler SUV 2012", "Jeep Liberty SUV 2012",
  "Jeep Grand Cherokee SUV 2012", "Jeep Compass SUV 2012", "Lamborghini Reventon Coupe 2008",
  "Lamborghini Aventador Coupe 2012", "Lamborghini Gallardo LP 570-4 Superleggera 2012",
  "Lamborghini Diablo Coupe 2001", "Land Rover Range Rover SUV 2012", "Land Rover LR2 SUV 2012",
  "Lincoln Town Car Sedan 2011", "MINI Cooper Roadster Convertible 2012",
  "Maybach Landaulet Convertible 2012", "Mazda Tribute SUV 2011", "McLaren MP4-12C Coupe 2012",
  "Mercedes-Benz 300-Class Convertible 1993", "Mercedes-Benz C-Class Sedan 2012",
  "Mercedes-Benz SL-Class Coupe 2009", "Mercedes-Benz E-Class Sedan 2012",
  "Mercedes-Benz S-Class Sedan 2012", "Mercedes-Benz Sprinter Van 2012",
  "Mitsubishi Lancer Sedan 2012", "Nissan Leaf Hatchback 2012", "Nissan NV Passenger Van 2012",
  "Nissan Juke Hatchback 2012", "Nissan 240SX Coupe 1998", "Plymouth Neon Coupe 1999",
  "Porsche Panamera Sedan 2012", "Ram C/V Cargo Van Minivan 2012",
  "Rolls-Royce Phantom Drophead Coupe Convertible 2012", "Rolls-Royce Ghost Sedan 2012",
  "Rolls-Royce Phantom Sedan 2012", "Scion xD Hatchback 2012", "Spyker C8 Convertible 2009",
  "Spyker C8 Coupe 2009", "Suzuki Aerio Sedan 2007", "Suzuki Kizashi Sedan 2012",
  "Suzuki SX4 Hatchback 2012", "Suzuki SX4 Sedan 2012", "Tesla Model S Sedan 2012",
  "Toyota Sequoia SUV 2012", "Toyota Camry Sedan 2012", "Toyota Corolla Sedan 2012",
  "Toyota 4Runner SUV 2012", "Volkswagen Golf Hatchback 2012", "Volkswagen Golf Hatchback 1991",
  "Volkswagen Beetle Hatchback 2012", "Volvo C30 Hatchback 2012", "Volvo 240 Sedan 1993",
  "Volvo XC90 SUV 2007", "smart fortwo Convertible 2012")

_CARS_URL = "http://ai.stanford.edu/~jkrause/car196/"

STANFORD_CARS = Row(
    "stanford_cars",
    title="Stanford Cars",
    layouts=(Layout(
        mat_labels,
        files=(File("car_ims.tgz", _CARS_URL + "car_ims.tgz",
                    ("md5:d5c8f0aa497503f355e17dc7886c3f14",)),
               File("cars_annos.mat", _CARS_URL + "cars_annos.mat",
                    ("md5:b407c6086d669747186bd1d764ff9dbc",))),
        args={"table": "cars_annos.mat", "image": "car_ims/{item}.jpg",
              "structures": {"array": "annotations", "name": "relative_im_path",
                             "label": "class", "split": "test"},
              "split_values": {0: splits.TRAIN, 1: splits.TEST}},
        num_examples={splits.TRAIN: 8144, splits.TEST: 8041}),),
    splits=splits.TRAIN_TEST,
    paper=_PAPER,
    paper_size=6937,
    num_classes=196,
    class_names=_CARS,
    channels=3,
    homepage="http://ai.stanford.edu/~jkrause/cars/car_dataset.html",
    licence="non-commercial research",
    notes="The publisher's links have been dead since 2023: it needs a mirror that holds the "
          "original files. Images are whole, not cropped to the box of the car.",
    citation="""@inproceedings{krause20133d,
  title={{3D} object representations for fine-grained categorization},
  author={Krause, Jonathan and Stark, Michael and Deng, Jia and Fei-Fei, Li},
  booktitle={Workshop on 3D Representation and Recognition},
  year={2013}
}""")

FGVC_AIRCRAFT_FAMILY = Row(
    "fgvc_aircraft_family",
    title="FGVC-Aircraft, families",
    layouts=(Layout(
        listed_images,
        files=(File(
            "fgvc-aircraft-2013b.tar.gz",
            "https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/archives/"
            "fgvc-aircraft-2013b.tar.gz", ("md5:d4acdd33327262359767eeaa97a4f732",)),),
        args={"lists": {"data/images_family_trainval.txt": splits.TRAIN,
                        "data/images_family_test.txt": splits.TEST},
              "line": "{item} {label}", "image": "data/images/{item}.jpg"},
        num_examples={splits.TRAIN: 6667, splits.TEST: 3333}),),
    splits=splits.TRAIN_TEST,
    paper=_PAPER,
    paper_size=5683,
    num_classes=70,
    channels=3,
    homepage="https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/",
    licence="non-commercial research",
    notes="The strip with the photographer's name, the last 20 lines of each image, is left in, as "
          "in the reference.",
    citation="""@article{maji2013fine,
  title={Fine-grained visual classification of aircraft},
  author={Maji, Subhransu and Rahtu, Esa and Kannala, Juho and Blaschko, Matthew and
          Vedaldi, Andrea},
  journal={arXiv preprint arXiv:1306.5151},
  year={2013}
}""")

FOOD101 = Row(
    "food101",
    title="Food-101",
    layouts=(Layout(
        listed_images,
        files=(File(
            "food-101.tar.gz", "http://data.vision.ee.ethz.ch/cvl/food-101.tar.gz",
            ("md5:85eeb15f3717b99a5da872d97d918f87",
             "sha256:d97d15e438b7f4498f96086a4f7e2fa42a32f2712e87d3295441b2b6314053a4"),
            size=4996278331),),
        args={"lists": {"meta/train.txt": splits.TRAIN, "meta/test.txt": splits.TEST},
              "line": "{label}/{item}", "image": "images/{label}/{item}.jpg"},
        num_examples={splits.TRAIN: 75750, splits.TEST: 25250}),),
    splits=splits.TRAIN_TEST,
    paper=_PAPER,
    paper_size=75750,
    num_classes=101,
    channels=3,
    homepage="https://data.vision.ee.ethz.ch/cvl/datasets_extra/food-101/",
    licence="scientific fair use; the images are foodspotting.com's",
    notes="The training images were never cleaned; the test images were. The size that the paper "
          "gives is the whole official training split, of which the reference keeps 85 %.",
    citation="""@inproceedings{bossard2014food,
  title={Food-101 -- Mining discriminative components with random forests},
  author={Bossard, Lukas and Guillaumin, Matthieu and Van Gool, Luc},
  booktitle={European Conference on Computer Vision},
  year={2014}
}""")

FOOD101N = Row(
    "food101n",
    title="Food-101N, verified images",
    layouts=(Layout(
        listed_images,
        files=(File(
            "Food-101N_release.zip",
            "https://drive.google.com/u/0/uc?id=1s9NyXpi9bO-UZUvk65WVvEUExNkZ1v9V"
            "&export=download&confirm=y", ("md5:596b41b48de43342ef1efbb2fd508e06",)),),
        args={"lists": {"meta/verified_train.tsv": splits.TRAIN,
                        "meta/verified_val.tsv": splits.TEST},
              "line": "{label}/{item}.jpg\t{flag}", "image": "images/{label}/{item}.jpg",
              "keep": {"flag": "1"}, "header_lines": 1, "unlisted": True, "max_missing": 1}),),
    splits=splits.TRAIN_TEST,
    compat=Compat(
        args={"keep": {}},
        paper=_PAPER,
        notes="People were asked whether an image shows the dish it is filed under; here, as in "
              "the reference, their answer is ignored, so that about a fifth of the labels, in "
              "test too, are known to be wrong."),
    paper_size=45032,
    num_classes=101,
    channels=3,
    homepage="https://kuanghuei.github.io/Food-101N/",
    notes="Only images that were looked at (verified_train.tsv; verified_val.tsv is test) and "
          "found to show their dish: the reference ignores what was found. The 250,000 images "
          "that nobody looked at are left out, as there. The paper's size is that of 52,867 images "
          "by the reference's draw, one less than are listed: one may be missing.",
    citation="""@inproceedings{lee2018cleannet,
  title={{CleanNet}: Transfer learning for scalable image classifier training with label noise},
  author={Lee, Kuang-Huei and He, Xiaodong and Zhang, Lei and Yang, Linjun},
  booktitle={Conference on Computer Vision and Pattern Recognition},
  year={2018}
}""")

ROWS = (FGVC_AIRCRAFT_FAMILY, FOOD101, FOOD101N, OXFORD_FLOWERS_17, STANFORD_CARS)
