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
demo: $(VENV)/.installed ## From a bundled table to a model file and a report in build/demo, in under a minute
	@mkdir -p build/demo
	$(VENV)/bin/weald fit --data breast_cancer --time 15 --model build/demo/breast_cancer.weald \
		--report build/demo/breast_cancer.html
	$(VENV)/bin/weald explain build/demo/breast_cancer.weald --data breast_cancer --row 1
	@echo "open build/demo/breast_cancer.html in a browser"

.PHONY: gallery
gallery: $(VENV)/.installed ## Draw the pictures of docs/gallery.md from examples/, and write the page
	$(VENV)/bin/python examples docs/gallery

# The quick checks of style come first. Types take a while, so they are checked beside the tests.
.PHONY: test
test: style ## Check style and types, and run the tests on the installed package
	@mkdir -p build
	@$(VENV)/bin/mypy > build/types.txt 2>&1 & types=$$!; failed=0; \
	$(VENV)/bin/pytest -n $(WORKERS) || failed=$$?; \
	wait $$types || failed=$$?; cat build/types.txt; exit $$failed

.PHONY: slow
slow: $(VENV)/.installed ## Run the tests marked slow
	$(VENV)/bin/pytest -n $(WORKERS) -m slow || test $$? -eq 5  # 5: no test is marked slow

CPP := $(shell find cpp bench -name '*.cpp' -o -name '*.hpp')

.PHONY: style
style: $(VENV)/.installed
	$(VENV)/bin/ruff check --quiet .
	$(VENV)/bin/ruff format --quiet --check .
	@echo clang-format && $(VENV)/bin/clang-format --dry-run --Werror $(CPP)

.PHONY: lint
lint: style ## Check style and types
	$(VENV)/bin/mypy

.PHONY: format
format: $(VENV)/.installed ## Format all sources and mend what ruff can mend
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	@echo clang-format && $(VENV)/bin/clang-format -i $(CPP)

# ---------------------------------------------------------------- stress
# $(call stress,ENVIRONMENT): random models on random tables, each held against its twins. The first case is a new one,
# which is printed; the same cases again: SEED=4711.
CASES ?= 5000
SEED  ?=
stress = PYTHONPATH=tests $(1)/bin/python -m stress.run --cases $(CASES) --workers $(WORKERS) \
	$(if $(SEED),--first $(SEED))

.PHONY: stress
stress: $(VENV)/.installed ## Fit CASES random models to random tables, from the case SEED on
	$(call stress,$(VENV))

# ---------------------------------------------------------------- static checks of the core
# A fixed version, since every new one has something new to say.
CLANG_TIDY := clang-tidy==23.1.4

.venv-tidy/.build-tools: pyproject.toml
	$(call environment,$(@D))
	@. $(@D)/bin/activate && $(PIP) install '$(CLANG_TIDY)'

.PHONY: tidy
tidy: .venv-tidy/.build-tools ## Check the C++ sources with clang-tidy
	@. .venv-tidy/bin/activate && cmake -S . -B build/tidy -G Ninja -DCMAKE_BUILD_TYPE=Release \
		-Dnanobind_DIR="$$(python -m nanobind --cmake_dir)" >/dev/null
	@find cpp -name '*.cpp' | sort | xargs -P $(WORKERS) -n 1 .venv-tidy/bin/clang-tidy -p build/tidy --quiet

# ---------------------------------------------------------------- other builds
# .venv-FLAVOUR holds a build of its own in build/FLAVOUR, made with these settings:
WITH_LINES       := cmake.build-type=RelWithDebInfo install.strip=false
settings-asan     = $(WITH_LINES) cmake.define.WEALD_SANITIZE=address,undefined
settings-tsan     = $(WITH_LINES) cmake.define.WEALD_SANITIZE=thread
settings-checked  = cmake.define.WEALD_CHECKED=ON
settings-tiny     = cmake.define.WEALD_CHECKED=ON cmake.define.WEALD_TINY=ON
settings-portable = cmake.define.WEALD_PORTABLE=ON
settings-oldest   =

.PRECIOUS: .venv-%/.build-tools
.venv-%/.build-tools: pyproject.toml
	$(call environment,$(@D))

.venv-%/.installed: .venv-%/.build-tools $(SOURCES)
	@echo "building for $(@D)"
	@. $(@D)/bin/activate && $(PIP) install ".[test]" --no-build-isolation \
		$(addprefix --config-settings=,build-dir=build/$* $(settings-$*))
	@touch $@

# The lowest versions that pyproject.toml allows, of the build requirements as well.
build/oldest.txt: pyproject.toml
	@mkdir -p $(@D)
	@$(PYTHON) -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb")); \
		needed = [*project["build-system"]["requires"], *project["project"]["dependencies"], \
		          *project["project"]["optional-dependencies"]["test"]]; \
		print(*(each.replace(">=", "==") for each in needed if ">=" in each), sep="\n")' > $@
.venv-oldest/.build-tools: build/oldest.txt
.venv-oldest/%: export PIP_CONSTRAINT := build/oldest.txt

# Not what scikit-learn itself does, which changes with its versions; what it asks of estimators stays.
.PHONY: oldest
oldest: .venv-oldest/.installed ## Run the tests with the lowest declared version of every dependency
	.venv-oldest/bin/python -m pytest -n $(WORKERS) -k 'not peers or estimator_contract'

.PHONY: checked
checked: .venv-checked/.installed ## Run random cases on a build that checks its indices and spoils reused memory
	$(call stress,.venv-checked)

.PHONY: tiny
tiny: .venv-tiny/.installed ## The same with tiny sizes, so that small tables reach every way, and the engine's tests
	.venv-tiny/bin/python -m pytest -n $(WORKERS) -k 'not take_two_bytes' tests/engine tests/laws tests/oracle \
		tests/tree/test_oracle.py tests/test_determinism.py tests/boosting/test_against_oracle.py
	$(call stress,.venv-tiny)

# What every machine must grow: the digests recorded from the ordinary build, and the same fits in both builds.
.PHONY: portable
portable: .venv-portable/.installed $(VENV)/.installed ## Run the engine's tests, digests and random cases on a build without vector instructions
	.venv-portable/bin/python -m pytest -n $(WORKERS) tests/engine tests/oracle tests/test_determinism.py \
		tests/models/test_old_files.py
	.venv-portable/bin/python -m pytest -n $(WORKERS) -m 'slow or not slow' tests/digests
	$(VENV)/bin/python -W ignore tests/portable/fits.py > build/fits.txt
	.venv-portable/bin/python -W ignore tests/portable/fits.py | diff build/fits.txt -
	PYTHONPATH=tests:. $(VENV)/bin/python -W ignore -m matrix.small > build/cells.txt
	PYTHONPATH=tests:. .venv-portable/bin/python -W ignore -m matrix.small | diff build/cells.txt -
	$(call stress,.venv-portable)

# All tests but those of documents, drawings and the command line, which show the engine nothing new, and
# scikit-learn's checks, which fit the same small tables hundreds of times. Promises in seconds are not made for
# a sanitized build. Output is not captured below Python, or a sanitizer's last words would die with the process.
# A part of the tests: make sanitize TESTS=tests/engine
SANITIZED_TESTS := -n $(WORKERS) --capture=sys -p no:cacheprovider -p no:faulthandler \
	$(addprefix --ignore=tests/,test_repository.py test_examples.py test_gallery.py cli dataset explain/test_drawing.py stress) \
	-k 'not estimator_contract and not satisfies_scikit_learn and not within_a_second'

# $(call under,LIBRARY): the C++ runtime comes along because the interpreter is not linked to it: without it the
# sanitizer finds no __cxa_throw to intercept. Addresses are not randomised, since the thread sanitizer of older
# compilers needs its fixed layout.
CXX ?= c++
library = $(shell $(CXX) -print-file-name=$(1))
under = $$(setarch -R true 2>/dev/null && echo setarch -R) env OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \
	LD_PRELOAD="$(call library,$(1)) $(call library,libstdc++.so)" WEALD_STRESS_SLOWER=20

# Pairs of pointers are not compared (detect_invalid_pointer_pairs): a vector does so across its spare room, which
# is marked as out of bounds, and that mark is worth more.
ASAN_OPTIONS  := detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=1:$\
	check_initialization_order=1:strict_init_order=1:strict_string_checks=1
UBSAN_OPTIONS := print_stacktrace=1
TSAN_OPTIONS  := halt_on_error=1:second_deadlock_stack=1:ignore_noninstrumented_modules=1:die_after_fork=0

UNDER_ASAN = $(call under,libasan.so) ASAN_OPTIONS=$(ASAN_OPTIONS) UBSAN_OPTIONS=$(UBSAN_OPTIONS) PYTHONMALLOC=malloc
UNDER_TSAN = $(call under,libtsan.so) TSAN_OPTIONS=$(TSAN_OPTIONS)

.PHONY: sanitize
sanitize: .venv-asan/.installed ## Run the tests and random cases under the address and undefined sanitizers
	$(UNDER_ASAN) .venv-asan/bin/python -m pytest $(SANITIZED_TESTS) $(TESTS)
	$(UNDER_ASAN) $(call stress,.venv-asan)

.PHONY: sanitize-thread
sanitize-thread: .venv-tsan/.installed ## The same under the thread sanitizer
	$(UNDER_TSAN) .venv-tsan/bin/python -m pytest $(SANITIZED_TESTS) $(TESTS)
	$(UNDER_TSAN) $(call stress,.venv-tsan)

# ---------------------------------------------------------------- benchmarks
$(BENCH)/.packages: pyproject.toml | build/wheel/.built
	@test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	@. $(BENCH)/bin/activate && $(PIP) install "$$(ls build/wheel/*.whl)[bench]"
	@touch $@

$(BENCH)/.installed: build/wheel/.built $(BENCH)/.packages
	@. $(BENCH)/bin/activate && $(PIP) install --no-deps --force-reinstall build/wheel/*.whl
	@touch $@

# Options go through ARGS, for example: make bench ARGS='--quick --only tree'
# Some cells of the matrix again: make bench ARGS='--matrix-only --only "forest.*sparse" --update'
.PHONY: bench
bench: $(BENCH)/.installed wheel ## Compare with the peers and write bench/RESULTS.md and bench/matrix/
	$(BENCH)/bin/python -m bench.run $(ARGS)

# Old and new in turns on every timed row of ours, or with ARGS=--matrix in every cell of the matrix. Keep the wheel of a state with `make wheel` and a copy of dist/.
.PHONY: bench-versions
bench-versions: wheel ## Compare with an older wheel of weald: OLD=path/to/old.whl
	$(VENV)/bin/python -m bench.versions --old '$(OLD)' --new dist/*.whl $(ARGS)

.PHONY: bench-threads
bench-threads: $(BENCH)/.installed ## Measure what threads gain and write bench/THREADS.md
	$(BENCH)/bin/python -m bench.threads $(ARGS)

# Only our side by default: ARGS='--library scikit-learn' runs the peer's again.
.PHONY: replicate
replicate: $(BENCH)/.installed ## Run published experiments again and write bench/replications/RESULTS.md
	$(BENCH)/bin/python -m bench.replications.run $(ARGS)

# Kept results are not made again: ARGS='--fresh' after a change of ours, '--half tune' to try settings.
.PHONY: defaults
defaults: $(BENCH)/.installed ## Compare default settings on real tables and write bench/defaults/RESULTS.md
	$(BENCH)/bin/python -m bench.defaults.run $(ARGS)

# The whole grid takes hours: ARGS='--rounds 20 100 300 --rates unset 0.1 --trees unset leaves=31' is a part of it.
.PHONY: defaults-given
defaults-given: $(BENCH)/.installed ## Compare with some parameters given, the rest at defaults, and write bench/defaults/GIVEN.md
	$(BENCH)/bin/python -m bench.defaults.given $(ARGS)

.PHONY: superlearner
superlearner: $(BENCH)/.installed ## Compare the super learner on real tables and write bench/combining/RESULTS.md
	$(BENCH)/bin/python -m bench.combining.run $(ARGS)

# AutoGluon in an environment of its own, since it has a say in the versions of other packages.
AUTOGLUON := .venv-autogluon
$(AUTOGLUON)/.installed: build/wheel/.built
	@test -x $(AUTOGLUON)/bin/python || $(PYTHON) -m venv $(AUTOGLUON)
	@. $(AUTOGLUON)/bin/activate && $(PIP) install 'autogluon.tabular[lightgbm,xgboost,catboost]' threadpoolctl \
		build/wheel/*.whl && $(PIP) install --no-deps --force-reinstall build/wheel/*.whl
	@touch $@

.PHONY: superlearner-autogluon
superlearner-autogluon: $(AUTOGLUON)/.installed ## Compare the super learner with AutoGluon and write bench/combining/AUTOGLUON.md
	$(AUTOGLUON)/bin/python -m bench.combining.autogluon $(ARGS)

.PHONY: theory
theory: $(BENCH)/.installed ## Bound the votes of forests on real tables and write bench/theory/RESULTS.md
	$(BENCH)/bin/python -m bench.theory.run $(ARGS)

.PHONY: many-categories
many-categories: $(BENCH)/.installed ## Measure ids and categories in all methods and write bench/many_categories/RESULTS.md
	$(BENCH)/bin/python -m bench.many_categories.run $(ARGS)

.PHONY: coverage
coverage: $(BENCH)/.installed ## Measure quantiles and intervals on real tables and write bench/coverage/RESULTS.md
	$(BENCH)/bin/python -m bench.coverage.run $(ARGS)

.PHONY: bench-kernels
bench-kernels: $(VENV)/.build-tools ## Build and run the C++ kernel benchmarks
	@. $(VENV)/bin/activate && cmake -S . -B build/kernels -G Ninja -DCMAKE_BUILD_TYPE=Release \
		-DWEALD_BUILD_MODULE=OFF -DWEALD_BUILD_TESTS=ON >/dev/null && cmake --build build/kernels
	@for kernel in build/kernels/kernels/*; do \
		if test -x "$$kernel" -a "$$kernel" != build/kernels/kernels/kernel_paths; then echo "== $$(basename $$kernel)"; "$$kernel"; fi; done

# $(call kernels,DIR,OPTIONS): the kernel benchmarks, built with some options.
define kernels
	@. $(VENV)/bin/activate && cmake -S . -B $(1) -G Ninja -DCMAKE_BUILD_TYPE=Release \
		-DWEALD_BUILD_MODULE=OFF -DWEALD_BUILD_TESTS=ON $(2) >/dev/null && cmake --build $(1) --target kernel_paths
endef

.PHONY: bench-paths
bench-paths: $(VENV)/.build-tools ## Measure what each fast way of the core gains and write bench/PATHS.md
	$(call kernels,build/paths,-DWEALD_SWITCHES=ON)
	$(call kernels,build/paths-narrow,-DWEALD_SWITCHES=ON -DCMAKE_CXX_FLAGS=-DWEALD_WITHOUT_WIDE)
	$(VENV)/bin/python -m bench.paths build/paths/kernels/kernel_paths build/paths-narrow/kernels/kernel_paths $(ARGS)

# ---------------------------------------------------------------- tidy up
.PHONY: clean
clean: ## Remove every build product, environment and cache
	rm -rf build dist .venv .venv-* src/weald/_engine/_core.pyi
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
