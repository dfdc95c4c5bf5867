# One target per job; `make` lists them. Everything is installed into $(VENV),
# nothing outside of it. Stamps make the second run quick.

PYTHON ?= python3
VENV   ?= .venv
BUILD  ?= build
ARGS   ?=
# Tests of a file stay together; files go in their order, the long ones of end_to_end first.
# One process more than there are cores: tests wait for the programs that they record.
WORKERS  ?= $(shell expr $$(getconf _NPROCESSORS_ONLN || echo 1) + 1)
PARALLEL ?= -n $(WORKERS) --maxprocesses 4 --dist loadfile --no-loadscope-reorder
SECONDS_PER_TARGET ?= 60
COMMANDS_SECONDS ?= $(SECONDS_PER_TARGET)

PIP    := $(VENV)/bin/python -m pip --disable-pip-version-check -q -q  # errors alone
# Modules are read from src, so that a changed one counts at once; which modules there are is in
# the name of a stamp. WHEEL=1 installs a copy of everything, as users have it.
COMPILED := $(shell find core CMakeLists.txt pyproject.toml -type f ! -path 'core/fuzz/*')
MODULES  := $(VENV)/.modules-$(shell find src -name '*.py' | LC_ALL=C sort | cksum | cut -d' ' -f1)
COPIED   := $(COMPILED) README.md LICENSE $(shell find src -type f ! -name '*.so' ! -name '*.pyc')
INSTALLED := $(VENV)/$(if $(WHEEL),.copied,.installed)
KERNELS := $(wildcard core/*.cpp core/*.hpp core/fuzz/*.cpp)

# Tests start Python hundreds of times: what it compiles is kept, whatever a shell says.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo install test lint format types layers docs images bench fuzz fuzz-commands same hooks check clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

demo: $(INSTALLED)  ## build burstline and explain a small recorded run that ships with it
	$(VENV)/bin/burstline demo $(ARGS)

install: $(INSTALLED)  ## build burstline and install it into VENV (default .venv)

test: $(INSTALLED) $(VENV)/.test  ## run every test; ARGS="-k matching" for some of them
	@.ci/system-packages record || echo "tests that need an MPI or clang are left out" >&2
	$(VENV)/bin/python -m pytest $(PARALLEL) $(if $(filter tests/% src/%,$(ARGS)),,tests --pyargs burstline) $(ARGS)

lint: $(VENV)/.lint  ## check style and format
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/clang-format --dry-run -Werror $(KERNELS)

format: $(VENV)/.lint  ## put style and format right, where that can be done by itself
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	$(VENV)/bin/clang-format -i $(KERNELS)

types: $(INSTALLED) $(VENV)/.lint $(VENV)/.test  ## check the types
	$(VENV)/bin/mypy --python-executable $(VENV)/bin/python

layers: $(INSTALLED) $(VENV)/.lint  ## check who imports whom
	$(VENV)/bin/lint-imports
	$(VENV)/bin/python .ci/contracts

docs: $(INSTALLED) $(VENV)/.docs  ## build the documentation into docs/_build
	$(VENV)/bin/sphinx-build -n -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

images: $(INSTALLED) $(VENV)/.test  ## draw the pictures of README and docs, and run its notebooks, again
	$(VENV)/bin/python docs/make_images.py
	$(VENV)/bin/python docs/make_figures.py
	$(VENV)/bin/python docs/make_notebooks.py

bench: $(INSTALLED)  ## run the benchmarks; ARGS="--size 500M" for large inputs
	$(VENV)/bin/python -m benchmarks $(if $(ARGS),$(ARGS),--quick)

fuzz: $(INSTALLED) $(VENV)/.test  ## throw bytes at kernels and parsers for SECONDS_PER_TARGET each (needs clang)
	.ci/system-packages fuzz
	@$(PIP) install --group fuzz
	PATH="$(abspath $(VENV))/bin:$$PATH" .ci/fuzz $(BUILD)/fuzz $(SECONDS_PER_TARGET)

fuzz-commands: $(INSTALLED) $(VENV)/.test  ## run every command on damaged inputs for COMMANDS_SECONDS
	$(VENV)/bin/python tests/fuzz/commands.py $(COMMANDS_SECONDS) --keep $(BUILD)/fuzz/broken/commands $(ARGS)

same: $(INSTALLED) $(VENV)/.test  ## compare all output with that of COMMIT; ARGS="--choice few" in a minute
	$(VENV)/bin/python .ci/same --installed --build $(abspath $(BUILD))/same $(COMMIT) $(ARGS)

hooks: $(INSTALLED) $(VENV)/.lint $(VENV)/.test  ## let git check style, types and layers of what is committed
	$(VENV)/bin/pre-commit install

check: lint types layers test docs  ## all that must pass before a change is merged

clean:  ## remove what the targets made
	rm -rf $(VENV) $(BUILD) docs/_build

$(VENV)/.ready:
	@PYTHON=$(PYTHON) .ci/system-packages build
	@echo "creating the environment $(VENV) ..." >&2
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade pip
	@touch $@

# The build tools stay in the environment: with a fresh one for every build, as pip
# does by default, every build would compile everything again.
BUILD_TOOLS = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])
$(VENV)/.tools: $(VENV)/.ready pyproject.toml
	@$(PIP) install cmake ninja $$($(VENV)/bin/python -c '$(BUILD_TOOLS)')
	@touch $@

INSTALL = $(PIP) install --no-build-isolation --config-settings=build-dir=$(abspath $(BUILD))/cmake
# What scikit-build-core registers would go before PYTHONPATH, by which commits are compared.
LAST = import sys; sys.meta_path.sort(key=lambda each: type(each).__module__ == '_editable_skbc_burstline')
SITE = $$($(VENV)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
$(VENV)/.installed: $(VENV)/.tools $(COMPILED) $(MODULES)
	@echo "building burstline (a minute the first time) ..." >&2
	@$(INSTALL) --config-settings=editable.mode=redirect --editable .
	@printf '%s\n' "$(LAST)" >"$(SITE)/burstline-last.pth"
	@rm -f $(VENV)/.copied
	@touch $@

$(VENV)/.copied: $(VENV)/.tools $(COPIED)
	@echo "building burstline (a minute the first time) ..." >&2
	@$(INSTALL) .
	@rm -f $(VENV)/.installed "$(SITE)/burstline-last.pth"
	@touch $@

$(MODULES): $(VENV)/.ready
	@rm -f $(VENV)/.modules-*
	@touch $@

$(VENV)/.test $(VENV)/.lint $(VENV)/.docs: $(VENV)/.%: $(VENV)/.ready pyproject.toml
	@echo "installing what $* needs ..." >&2
	@$(PIP) install --group $*
	@touch $@
