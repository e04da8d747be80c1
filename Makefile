# Front door of Pantograph. The work is done by CMake and the scripts in tools/.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

export PYTHON ?= /usr/bin/python3
FUZZ_SECONDS ?= 60

# Later changes of CMake files are noticed by the build itself.
configure_preset = if [ ! -f build/$(1)/build.ninja ] || [ CMakePresets.json -nt build/$(1)/build.ninja ]; \
  then cmake --preset $(1); fi

.PHONY: help bootstrap configure build demo test test-release test-asan test-python test-viewer lint validate \
        bench docs fuzz viewer clean

help:
	@echo "make build      the program, build/release/bin/panto, the libraries and the Python package"
	@echo "make demo       build, then a short tour of what the program does"
	@echo "make test       all tests, unit tests under sanitizers, Python and browser tests, fuzzers for 60 s"
	@echo "make lint       format, layers, clang-tidy"
	@echo "make validate   comparison with analytic, reference and published results"
	@echo "make bench      benchmarks"
	@echo "make docs       documentation site"
	@echo "make viewer     the report page, build/viewer/report.html"
	@echo "make fuzz       fuzzers on every reader (FUZZ_SECONDS=$(FUZZ_SECONDS))"
	@echo "make clean      remove build/"
	@echo "Missing Debian packages (tools/packages.txt) are installed on the way."

bootstrap:
	@tools/bootstrap

configure: bootstrap
	@$(call configure_preset,release)

build: configure
	@cmake --build --preset release

demo: build
	@tools/demo

test: test-release test-asan test-python test-viewer fuzz

test-release: build
	@ctest --preset release

test-asan: bootstrap
	@$(call configure_preset,asan)
	@cmake --build --preset asan
	@ctest --preset asan -L unit

test-python: build
	@if [ -d python/tests ]; then \
	  PYTHONPATH="$$PWD/build/release/python" $(PYTHON) -m pytest -q -p no:cacheprovider python/tests; \
	fi

viewer: bootstrap
	@tools/viewer build

test-viewer: bootstrap
	@tools/viewer test

lint: configure
	@tools/lint

# Papers; then a million steps of a filter on every mechanism of the zoo, about 40 minutes on one core.
validate: build
	@tools/validate
	@PANTO_ENDURANCE_STEPS=1000000 ctest --preset release -R ZooEndurance --timeout 7200

bench: build
	@tools/bench

docs: configure
	@cmake --build --preset release --target panto pantograph_package
	@tools/docs

fuzz: bootstrap
	@if [ -x tools/fuzz ]; then tools/fuzz $(FUZZ_SECONDS); fi

clean:
	@rm -rf build
