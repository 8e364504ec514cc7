# Everything that a developer or CI does. Each target makes what it needs, in .venv at the root.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= auto
STAMP := $(VENV)/.installed

.PHONY: install controlplane kubectls peers demo demo-real test test-embedded test-versions fuzz bench bench-quick lint format lock models clean

install: $(STAMP)

$(STAMP): pyproject.toml requirements-dev.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --requirement requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $(STAMP)

controlplane: install  ## Build etcd, Kubernetes and kwok once into the user cache (needs Go; about eight minutes).
	$(BIN)/python -m kubewright.testing.build

kubectls: controlplane  ## Build kubectl of older Kubernetes releases once into the user cache (needs Go; some minutes).
	$(BIN)/python -m hack.kubectls

peers: kubectls  ## Build Helm and cert-manager once into the user cache (needs Go; some minutes).
	$(BIN)/python -m hack.peers.build

demo: install  ## The RedisCluster operator on the embedded API server. KEEP=1 leaves it up.
	$(BIN)/python -m examples.rediscluster.demo

demo-real: controlplane  ## The same on a real control plane (needs Go).
	$(BIN)/python -m examples.rediscluster.demo --real

test: peers
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadscope $(ARGS)

test-embedded: kubectls  ## The tests of a real control plane on the embedded API server (ARGS=--embedded-strict: those left out too).
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadscope --kubewright-cluster=embedded \
		-m "control_plane and not soak" $(ARGS)

test-versions: install  ## The tests that need no control plane, on every other supported Python that is installed.
	$(BIN)/python hack/versions.py $(addprefix --python=,$(PYTHONS)) $(ARGS)

fuzz: install  ## Random expressions, rules, patterns and values for an hour: nothing may hang, crash or grow.
	$(BIN)/python tests/schema/cel/cel_fuzz.py --seconds $(or $(SECONDS),3600) --seed $(or $(SEED),1)

bench: controlplane  ## Kubewright beside controller-runtime and kopf, on this machine: about half an hour (needs Go).
	$(BIN)/python -m bench.run $(ARGS)

bench-quick: controlplane  ## The same, smaller: a minute and a half once everything is built.
	$(BIN)/python -m bench.run --quick $(ARGS)

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:  ## Write requirements-dev.lock anew from pyproject.toml.
	$(BIN)/python -m pip install --quiet pip-tools
	$(BIN)/python -m piptools compile --quiet --strip-extras --extra dev --generate-hashes --allow-unsafe \
		--no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file requirements-dev.lock pyproject.toml

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
