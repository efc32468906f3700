# Every target works from a clean clone with only python3 (3.11+), a C++20 compiler and make.
# CMake, ninja and the rest come from the package index into private environments.

PYTHON  ?= python3
WORKERS ?= 2
SHELL   := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV  := .venv
BENCH := .venv-bench
ASAN  := .venv-asan
TSAN  := .venv-tsan
PIP   := python -m pip --disable-pip-version-check -qq

# A directory's time changes when a file in it comes or goes, so removed files count as well.
SOURCES := pyproject.toml CMakeLists.txt \
	$(shell find cpp src -not -path '*/__pycache__*' -not -name '_core.pyi' \
		\( -type d -o -name '*.cpp' -o -name '*.hpp' -o -name '*.h' \
		   -o -name '*.py' -o -name 'py.typed' \) 2>/dev/null)

# The build requirements as pyproject.toml names them, plus the build tools.
BUILD_REQUIREMENTS = $$(python -c 'import tomllib; \
	print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])') \
	'cmake>=3.26' 'ninja>=1.11'

# $(call environment,DIR): make a private environment with the build requirements.
define environment
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "weald needs Python 3.11 or later: call make with PYTHON=/path/to/python3"; exit 1; }
	@test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	@. $(1)/bin/activate && $(PIP) install $(BUILD_REQUIREMENTS)
	@touch $@
endef

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

# ---------------------------------------------------------------- build and install
$(VENV)/.build-tools: pyproject.toml
	$(call environment,$(VENV))

# One wheel, kept build directory: a changed file costs its own compilation only.
build/wheel/.built: $(VENV)/.build-tools $(SOURCES)
	@rm -rf build/wheel && mkdir -p build/wheel
	@echo "building the wheel"
	@. $(VENV)/bin/activate && $(PIP) wheel . --no-deps --no-build-isolation --wheel-dir build/wheel \
		--config-settings=build-dir=build/release
	@if test -f build/release/_core.pyi; then \
		cmp -s build/release/_core.pyi src/weald/_engine/_core.pyi || \
		cp build/release/_core.pyi src/weald/_engine/_core.pyi; fi
	@touch $@

$(VENV)/.packages: pyproject.toml | build/wheel/.built
	@. $(VENV)/bin/activate && $(PIP) install "$$(ls build/wheel/*.whl)[test]"
	@touch $@

$(VENV)/.installed: build/wheel/.built $(VENV)/.packages
	@. $(VENV)/bin/activate && $(PIP) install --no-deps --force-reinstall build/wheel/*.whl
	@touch $@

.PHONY: install
install: $(VENV)/.installed ## Build weald and install it into .venv

.PHONY: wheel
wheel: build/wheel/.built ## Build the wheel into dist/ and check its size
	@mkdir -p dist && rm -f dist/*.whl && cp build/wheel/*.whl dist/
	@$(VENV)/bin/python -c 'import pathlib, sys; \
		[wheel] = pathlib.Path("dist").glob("*.whl"); size = wheel.stat().st_size / 1e6; \
		print(f"{wheel}: {size:.2f} MB"); sys.exit("the wheel must stay below 5 MB" if size >= 5 else 0)'

# ---------------------------------------------------------------- use and check
.PHONY: demo
demo: $(VENV)/.installed ## Fit a tree to two bundled data sets from the command line
	$(VENV)/bin/weald fit --data iris
	$(VENV)/bin/weald fit --data diabetes --ccp-alpha cv_1se

.PHONY: test
test: $(VENV)/.installed ## Run the tests on the installed package
	$(VENV)/bin/pytest -n $(WORKERS)

.PHONY: slow
slow: $(VENV)/.installed ## Run the tests marked slow
	$(VENV)/bin/pytest -n $(WORKERS) -m slow || test $$? -eq 5  # 5: no test is marked slow

.PHONY: lint
lint: $(VENV)/.installed ## Check style and types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

.PHONY: format
format: $(VENV)/.installed ## Format the Python sources and mend what ruff can mend
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

# ---------------------------------------------------------------- stress
# One seed again: make stress SEED=4711. Without it the first case is a new one, which is printed.
CASES ?= 10000
SEED  ?=
.PHONY: stress
stress: $(VENV)/.installed ## Fit CASES random models to random tables, from the case SEED on
	PYTHONPATH=tests $(VENV)/bin/python -m stress.run --cases $(CASES) --workers $(WORKERS) \
		$(if $(SEED),--first $(SEED))

# ---------------------------------------------------------------- sanitizers
CXX ?= c++
ENGINE_TESTS := $(wildcard tests/test_tree_oracle.py tests/test_determinism.py \
	tests/bad_input tests/engine)
# Output is not captured below Python, or a sanitizer's last words would die with the process.
# Promises in seconds are not made for a sanitized build.
SANITIZED_PYTEST = --capture=sys -p no:cacheprovider -p no:faulthandler -k 'not within_a_second' \
	$(or $(ENGINE_TESTS),$(error there are no engine tests to run under a sanitizer))
# The C++ runtime comes along because the interpreter is not linked to it: without it the
# sanitizer finds no __cxa_throw to intercept.
preload = $(shell $(CXX) -print-file-name=$(1)) $(shell $(CXX) -print-file-name=libstdc++.so)

# $(call sanitized,ENVIRONMENT,BUILD DIRECTORY,SANITIZERS): install a sanitized build.
define sanitized
	@echo "building with the sanitizers $(3)"
	@. $(1)/bin/activate && $(PIP) install ".[test]" --no-build-isolation \
		--config-settings=build-dir=$(2) --config-settings=cmake.build-type=RelWithDebInfo \
		--config-settings=install.strip=false --config-settings=cmake.define.WEALD_SANITIZE=$(3)
	@touch $@
endef

$(ASAN)/.build-tools $(TSAN)/.build-tools: pyproject.toml
	$(call environment,$(@D))

$(ASAN)/.installed: $(ASAN)/.build-tools $(SOURCES)
	$(call sanitized,$(ASAN),build/asan,address$(comma)undefined)

$(TSAN)/.installed: $(TSAN)/.build-tools $(SOURCES)
	$(call sanitized,$(TSAN),build/tsan,thread)

comma := ,

.PHONY: sanitize
sanitize: $(ASAN)/.installed ## Run the engine's tests under the address and undefined sanitizers
	LD_PRELOAD="$(call preload,libasan.so)" \
	ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1 \
	PYTHONMALLOC=malloc OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \
	$(ASAN)/bin/python -m pytest $(SANITIZED_PYTEST)

# Without randomised addresses: the thread sanitizer of older compilers needs its fixed layout.
.PHONY: sanitize-thread
sanitize-thread: $(TSAN)/.installed ## Run the engine's tests under the thread sanitizer
	LD_PRELOAD="$(call preload,libtsan.so)" \
	TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:ignore_noninstrumented_modules=1:die_after_fork=0 \
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \
	$$(setarch -R true 2>/dev/null && echo setarch -R) \
	$(TSAN)/bin/python -m pytest $(SANITIZED_PYTEST)

# ---------------------------------------------------------------- benchmarks
$(BENCH)/.packages: pyproject.toml | build/wheel/.built
	@test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	@. $(BENCH)/bin/activate && $(PIP) install "$$(ls build/wheel/*.whl)[bench]"
	@touch $@

$(BENCH)/.installed: build/wheel/.built $(BENCH)/.packages
	@. $(BENCH)/bin/activate && $(PIP) install --no-deps --force-reinstall build/wheel/*.whl
	@touch $@

# Options go through ARGS, for example: make bench ARGS='--quick --only tree'
.PHONY: bench
bench: $(BENCH)/.installed wheel ## Compare with the peers and write bench/RESULTS.md
	$(BENCH)/bin/python -m bench.run $(ARGS)

# Only our side by default: ARGS='--library scikit-learn' runs the peer's again.
.PHONY: replicate
replicate: $(BENCH)/.installed ## Run published experiments again and write bench/replications/RESULTS.md
	$(BENCH)/bin/python -m bench.replications.run $(ARGS)

# Kept results are not made again: ARGS='--fresh' after a change of ours, '--half tune' to try settings.
.PHONY: defaults
defaults: $(BENCH)/.installed ## Compare default settings on real tables and write bench/defaults/RESULTS.md
	$(BENCH)/bin/python -m bench.defaults.run $(ARGS)

.PHONY: bench-kernels
bench-kernels: $(VENV)/.build-tools ## Build and run the C++ kernel benchmarks
	@. $(VENV)/bin/activate && cmake -S . -B build/kernels -G Ninja -DCMAKE_BUILD_TYPE=Release \
		-DWEALD_BUILD_MODULE=OFF -DWEALD_BUILD_TESTS=ON >/dev/null && cmake --build build/kernels
	@for kernel in build/kernels/kernels/*; do \
		if test -x "$$kernel"; then echo "== $$(basename $$kernel)"; "$$kernel"; fi; done

# ---------------------------------------------------------------- tidy up
.PHONY: clean
clean: ## Remove every build product, environment and cache
	rm -rf build dist $(VENV) $(BENCH) $(ASAN) $(TSAN) src/weald/_engine/_core.pyi
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
