# The commands that people type. Each installs missing Debian packages, shows progress, and leaves
# everything that it makes under build/. `make help` lists them.

SHELL := /bin/bash
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
PACKAGES := scripts/install-packages
# ccache is used where it is installed; nobody needs it.
LAUNCHER := $(shell command -v ccache >/dev/null && echo -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
# npm bundles the web page. An npm that is already installed is used, whatever its origin.
PAGE := $(shell command -v npm >/dev/null || echo page)
PEERS := $(if $(CI),peers)
CONFIGURE = cmake --preset $(1) $(LAUNCHER) --log-level=WARNING

.DEFAULT_GOAL := help
.PHONY: help demo test build screenshots bench check lint fuzz format sanitize evidence paper install deb slurm wheel clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## the guided tour: a simulated GPU being driven, in seconds, no GPU needed
	@build/bin/hypermile demo --report build/demo.html

build: ## build the programs into build/bin (release)
	@$(PACKAGES) build
	@$(PACKAGES) $(PAGE) || echo "hypermile: without npm there is no web page; everything else is built"
	@$(call CONFIGURE,release)
	@cmake --build --preset release -j $(JOBS)

test: ## build and run every test
	@$(PACKAGES) build $(PAGE) test $(PEERS)
	@$(call CONFIGURE,dev)
	@cmake --build --preset dev -j $(JOBS)
	@ctest --test-dir build --output-on-failure --progress -j $(JOBS)

bench: ## run the benchmarks
	@$(PACKAGES) build bench
	@$(call CONFIGURE,bench)
	@cmake --build --preset bench -j $(JOBS)
	@for program in build/bench/bin/*_bench; do echo "==> $$program"; $$program || exit 1; done

check: lint sanitize ## format, tidy, and the tests under sanitizers and clang

lint: ## clang-format and clang-tidy
	@$(PACKAGES) build test lint
	@scripts/lint

# The parts with threads or shared memory; for the others, asan has already shown everything.
THREADED := daemon execute gpu inject job lease nvmlsim serve

sanitize: ## the tests under the address and undefined sanitizers, those with threads under the thread sanitizer
	@$(PACKAGES) build test lint
	@echo "==> asan"
	@$(call CONFIGURE,asan) && cmake --build --preset asan -j $(JOBS)
	@ctest --test-dir build/asan --output-on-failure --progress -j $(JOBS)
	@echo "==> tsan"
	@$(call CONFIGURE,tsan) && cmake --build --preset tsan -j $(JOBS) --target nvml_test ring_test $(THREADED:=_test)
	@ctest --test-dir build/tsan -L '^($(subst $() ,|,nvml ring $(THREADED)))$$' --output-on-failure --progress -j $(JOBS)

fuzz: ## every fuzz program for FUZZ_SECONDS (30)
	@$(PACKAGES) build lint
	@scripts/fuzz $(or $(FUZZ_SECONDS),30)

format: ## rewrite the sources as clang-format wants them
	@$(PACKAGES) lint
	@git ls-files '*.cpp' '*.h' | xargs clang-format-14 -i

evidence: build ## make every table of docs/evidence that needs no GPU
	@cmake --build --preset release -j $(JOBS) --target evidence_programs
	@scripts/make-evidence

paper: build ## docs/evidence/papers.md: every claim of the two founding works, tried here
	@scripts/evidence/papers

screenshots: ## make the pictures of docs/images with the browser tests
	@$(PACKAGES) build $(PAGE) test
	@$(call CONFIGURE,dev) && cmake --build --preset dev -j $(JOBS) --target hypermile
	@HYPERMILE_SCREENSHOTS=$(CURDIR)/docs/images ctest --test-dir build --output-on-failure -R '^Web\.(Report|Live)$$'

install: build ## install into PREFIX (default /usr/local)
	@cmake --install build --strip --prefix $(PREFIX)

deb: ## build the Debian packages into build/packages
	@$(PACKAGES) build deb
	@$(call CONFIGURE,deb)
	@cmake --build --preset deb -j $(JOBS) --target hypermile hypermiled hypermile_inject hypermile_tick nvmlsim pages
	@scripts/make-deb build/deb build/packages

slurm: ## build the Debian package hypermile-slurm, plugin and agent, into build/packages-slurm
	@$(PACKAGES) build deb slurm
	@$(call CONFIGURE,deb)
	@cmake --build --preset deb -j $(JOBS) --target hypermile-agent hypermile_slurm
	@scripts/make-deb build/deb build/packages-slurm hypermile-slurm

wheel: build ## build one wheel with everything into build/wheel
	@$(PACKAGES) wheel
	@scripts/make-wheel

clean: ## remove build/
	@rm -rf build
