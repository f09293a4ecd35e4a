# The suite on TensorFlow's GPU image, which has Python 3.11 and TensorFlow 2.15 with CUDA and cuDNN.
#   docker build -t lifelong-suite .
#   docker run --rm --gpus all -v "$PWD/data:/data" -v "$PWD/runs:/runs" lifelong-suite run quickstart --workdir /runs/quickstart
# tests/docker_test.py compares the versions with setup.cfg; tools/docker.sh builds it, or lints it without docker.
ARG TENSORFLOW=2.15.0
FROM tensorflow/tensorflow:${TENSORFLOW}-gpu

# Of the image; pip would otherwise replace its TensorFlow, which finds the CUDA libraries beside it.
ARG TENSORFLOW
ARG PYTHON=3.11
RUN python3 -c "import sys; assert sys.version_info[:2] == tuple(map(int, '${PYTHON}'.split('.'))), sys.version"

WORKDIR /opt/lifelong-suite
COPY pyproject.toml setup.cfg setup.py README.md LICENSE ./
COPY suite suite
COPY tfds_builders tfds_builders
COPY gin gin
RUN echo "tensorflow==${TENSORFLOW}" > /tmp/constraints.txt \
  && python3 -m pip install --no-cache-dir --constraint /tmp/constraints.txt . \
  && rm /tmp/constraints.txt \
  && cd / \
  && python3 -m suite list

ENV TFDS_DATA_DIR=/data
WORKDIR /runs
ENTRYPOINT ["suite"]
CMD ["list"]
