# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Brodatz textures."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_grid
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

# Number of the texture and md5 of its file; there is no D14.
_SUMS = """
    1 d5b7a11b6c2e21d4869626e2e43a6c76
    2 1de256b931c57e40c7bc9c3f64c6a77a
    3 ec3927c4f532f88f069700f8d6adfddd
    4 1ef331b11c9a3b85c34f4be1852b69e5
    5 8c6b91aee71dfcd66aee551e6a0609e0
    6 e6bb6971f81d319f623615d5694b3209
    7 c2fcd13fc32c2b631343445c0e230020
    8 801dade42334cac045e04a235f2986da
    9 dc65d59935048475ad4867d84ebbfa54
    10 75778b4707eb295101464113d78bec6e
    11 f659294380d33fa8752ac6b070d9c55b
    12 58a68e7fcdb1b0c32b6bb085ed3fe464
    13 74762bcca81edf3683d91871d4863898
    15 468611c6987f098b984bee1ef5feece5
    16 bd81a2680d168ed1bd156b7d840a7e0e
    17 4fa54c530e545ea9f6f3a9572e2197c7
    18 1649654b700b0ec8dea92d937db90e07
    19 c49ee81d5ac0241cc42765fbb9367140
    20 166d44aa57308f1044d5d6009d85964e
    21 070b869c8f38f6005595c062c09dd29e
    22 d5fc9a65b2a66afa641375e005b1c3a8
    23 68f3c724340a17cc9b71ccbbef2c625a
    24 553f108617063d3bae59dbc0842d40a6
    25 983966e908c0bb871d0c7eeb87d842eb
    26 25cb81107a1344bb0df5bb700ea0d545
    27 b4ad552c8153121f54311e0bf4d71742
    28 bcb1f90c91e63232fc482e861ad2a5ef
    29 97c091cf6bd85df9953fbacf4c26e653
    30 f640ea4d19451070ab7521d01fe0443c
    31 f2b021904c5657adff2f0ccd3c174da2
    32 2c106006421fd382c8bb7d0dde4a7757
    33 b87d02748fc35987ad31848eaa018309
    34 bfa73bb2478c5197a4841b26bbee319a
    35 708271b6fb9eff6ddb04ecd8144df2a1
    36 7e61234cc1f705872c7157197950f473
    37 efa7f55b325e0ec0adddfe2f13feb59f
    38 41a7f446618790981a7126ec4f11a3dc
    39 bf7c79d4bebfa5e39833e3d19722f906
    40 00916ab1171c486b2aaa97dff111b767
    41 09df782a9078662fad344fc00ebf15ef
    42 5c0c9878f3404e9f827e5b36e9e4bd78
    43 a3bb8e0a94e7bdf50bb202db4bbfd7cd
    44 fe9671ef6e3a847cacc014b4e34aed3a
    45 983b7bc79ce0510cce14ec1b1e16fa11
    46 bd9ff64e7e4d49f213d8ee68e4c96a73
    47 8153b39e1b9d535d7b5617f8af824770
    48 91fc6fc1df6984f2ee4caa0878f79e61
    49 9bf59efe485d20cefe403e22981bdf5f
    50 3f51cb54e0812916aab4dd7a3ff1d53f
    51 845012e87e736e7c086d860c3438395e
    52 b3e50f0ec2fd1a6fedb01633e45e723c
    53 fea16eb7f88bef7b8f59cb773c109a1e
    54 7ce97a6514196ec55b5641ca6da128e4
    55 83a53d7f3ed452d84bd24a5feb16ca82
    56 e05b6a4d4118a69e8c1dc21f367a2837
    57 ecf251b805b618c92f66eeaa42f3a555
    58 ed0ed6bf2f9d76f7763dfd2a59ade2d7
    59 ceabd5df9baeb447be7206e8f40b59c9
    60 18a2dea676bc12c9dfce54859a194132
    61 1f85e3af72d92fd24b8518f70f235150
    62 6f79c57fa556d4b449583787e2dcad28
    63 eb7ee131280bffc2b2416e719c848402
    64 80e74de3008d706d95097ea1e9f0c47c
    65 5a3d6019a57aab602339b7ce28b185da
    66 ad7eb2e9504c2f6aa420e902bf281e8b
    67 04b67bcc065507358a1cd139f6330386
    68 2de16cc286ca056234c9d961db6faf29
    69 847e8b08e204e51b9f6b37b27eb665e2
    70 e71ea4d910079d8076282a808447b092
    71 748bfdec8178eb759283b20f8f18c7b7
    72 aab06dd699291cb98bc9bf3858c5c8e2
    73 0fb12645d29c83e397bad8a4c2a02641
    74 84bc434804e1af9e0ebebe35e268fe63
    75 1925755a7bbb8c63eb84b1f764633040
    76 f1ad969319f6fc6bd7282c3a665580f1
    77 4a0bcc6bdb82e5a2021d1fd674143309
    78 84891367765a6645da6bf344960d3367
    79 23fe0d9309572a9398ab76585dfed68c
    80 cda3fa8f9beb4ebd7b1214ae52d63007
    81 03f9a63e224777b8fc6a831e294eb191
    82 71ff43df59c976685594c2699a7ca285
    83 72b08177d945df0f19fd7dee6d7d3199
    84 71cfd495fe5697ba2c97584362c763d7
    85 ec10e406c98376ef453e8ff84cd17ab7
    86 c8ae9a9b08c34f10c98e10b8fbe3faa4
    87 efd18bd1b96786cd0c1154d3b6607112
    88 7388e9b96303c330363a127b5f86de9a
    89 3fbfb4fcacd97bd8ff4d16c865e4d1c5
    90 9799b578783825b275a016d3f73f5ee9
    91 5ce405b9a67949c358b8425ad0eb043d
    92 0e1ad08968c216ec63989cea2ed97591
    93 51651d6a16ffac5eada215a9828b47dd
    94 7e665d45c5d145b9677501699ccc6ef9
    95 78d6a78e47f05bb0ae28a926310a3869
    96 40633ecff095460e126aa30e55e2b914
    97 4dbd7162f540bf106e8287b585798341
    98 5f11c141eb653f7401f9dd28e88cb73c
    99 ff60fd7aa813f72b8ef0cac840db6761
    100 8e5e62d263ce3bad21d8c01ac7c0faa5
    101 c8b21ce148aafb82635cb18966b0eac4
    102 fa6ac2cf66fe51318209ac74d9a08dee
    103 5976a960557eca00559042b0041921dd
    104 f0565aeebc36cad137af950125001082
    105 6f27031fed8269dd0fb9d36572eb84de
    106 b338b00b68eec8d35b14b82d5eef2ba8
    107 3d5c5fe771dab76f041cf58b4b7f95e8
    108 98e8c0881b909259cc812d0ee1a7f700
    109 3b0b3b050c09f5505f6c5079a702d87e
    110 4df933730394c919130a051ef1b5cd53
    111 459692fc135ea149fe40470d75c2f8ca
    112 6c4cedeb6915d76742fb224a44293dd6
"""

_SUM_OF = dict(line.split() for line in _SUMS.split("\n") if line.strip())

ROW = Row(
    "brodatz",
    title="Brodatz textures",
    layouts=(Layout(
        image_grid,
        files=tuple(File(f"D{number}.gif", f"http://www.ux.uis.no/~tranden/brodatz/D{number}.gif",
                         (f"md5:{md5}",)) for number, md5 in _SUM_OF.items()),
        args={"dataset": "brodatz", "side": 3,
              "parts": ((splits.TRAIN, 5), (splits.DEV, 1), (splits.VALIDATION, 1),
                        (splits.TEST, 2))},
        num_examples={splits.TRAIN: 555, splits.DEV: 111, splits.VALIDATION: 111,
                      splits.TEST: 222}),),
    splits=splits.GIVEN,
    paper_size=672,
    num_classes=111,
    class_names=tuple(f"D{number}" for number in _SUM_OF),
    channels=1,
    unique=False,
    version="2.0.0",
    homepage="http://www.ux.uis.no/~tranden/brodatz.html",
    notes="Each picture is cut into 3 x 3 patches: five are train, one dev, one validation, two "
          "test. A hash assigns them; the reference's draw depends on the order of the listed "
          "files and is not reproduced. The paper's size, 672, is 6 x 112; there are 111 pictures.",
    citation="""@book{brodatz1966textures,
  title={Textures: a photographic album for artists and designers},
  author={Brodatz, Phil},
  publisher={Dover},
  year={1966}
}""")
