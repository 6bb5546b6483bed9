# SPDX-License-Identifier: Apache-2.0
# The front door: each target first runs scripts/setup.sh, which installs what is missing (and says what and why).
# More arguments for what is run: make demo ARGS="--seconds 5", make test ARGS="-R transport".
.DEFAULT_GOAL := all
.PHONY: all library wheel wheel-arm64 zenoh demo test test-deep bench bench-full bench-gate bench-peers install deb site format lint clean help
PREFIX ?= /usr/local
ARGS ?=
PYTHON ?=
OUT ?= out/report
BASE ?=
CARDAN := build/release/bin/cardan

all: ## build everything to build/release; the command is build/release/bin/cardan
	@echo "make: builds everything to build/release. Others: make demo | test | test-deep | bench | install | help"
	@scripts/setup.sh --for test
	@scripts/build.sh release
	@echo "make: done. Next: make demo, make test, or $(CARDAN) --help"

library: ## build only the library and the command, without OpenCV or test tools
	@scripts/setup.sh --for build
	@scripts/build.sh release whole_command

wheel: ## build the Python package with the command as a wheel for glibc 2.28 and newer, to build/wheel (some minutes; PYTHON=python3.12: for that one)
	@scripts/setup.sh --for wheel
	@scripts/wheel.sh build/wheel $(PYTHON)

wheel-arm64: ## the same for arm64, cross-built and tried under qemu-user, to build/wheel
	@scripts/setup.sh --for test-deep
	@scripts/wheel_arm64.sh

zenoh: ## build cardan-zenoh, which `cardan bridge zenoh` needs (cargo and crates.io; some minutes)
	@scripts/setup.sh --for build
	@scripts/build.sh release whole_command
	@scripts/zenoh.sh

demo: ## the street demo: camera, LiDAR, detector, obstacles and decision as processes, also in a browser (two minutes)
	@scripts/setup.sh --for demo
	@test -e build/release/bin/cardan || echo "make: compiles the demo first, about $$((8 / $$(nproc) + 1)) minutes"
	@scripts/build.sh release bin/cardan viewer
	@$(CARDAN) demo --view $(ARGS)

test: ## all tests but the long ones (ARGS go to ctest)
	@scripts/setup.sh --for test
	@scripts/test.sh $(ARGS)

test-deep: ## the long tests: models, kills, sanitizers, clang, arm64, PCL, tidy (ARGS: names of sections)
	@scripts/setup.sh --for test-deep
	@scripts/test-deep.sh $(ARGS)

bench: ## measure transport, runtime, recorder, bridges, perception and localization in fourteen minutes; report in out/report (ARGS go to the transport's alone)
	@scripts/setup.sh --for bench
	@scripts/build.sh release whole_command bin/cardan-bench bench_peers_again
	@$(if $(ARGS),$(CARDAN) bench transport $(ARGS),$(CARDAN) bench all --out $(OUT))

bench-full: ## the same with all sizes, rounds and parts: half an hour and more (ARGS: --resume, --only …)
	@scripts/setup.sh --for bench
	@scripts/build.sh release whole_command bin/cardan-bench bench_peers_again
	@$(CARDAN) bench all --selection full --out $(OUT) $(ARGS)

bench-gate: ## measure in fourteen minutes and compare with BASE=…/results.json of the same computer; fails if something is worse
	@test -f "$(BASE)" || { echo "make bench-gate: give BASE=FILE, the results.json that make bench made before the change"; exit 2; }
	@scripts/setup.sh --for bench
	@scripts/build.sh release whole_command bin/cardan-bench bench_peers_again
	@$(CARDAN) bench all --out out/gate $(ARGS) || test $$? -eq 3
	@$(CARDAN) bench compare "$(BASE)" out/gate/results.json --json out/gate/changes.json

bench-peers: ## install and build the other middlewares that cardan bench transport measures, too (apt, crates.io, PyPI)
	@scripts/setup.sh --for peers
	@scripts/build.sh release bin/cardan bin/cardan-bench bench_peers
	@$(CARDAN) bench transport --help | sed -n '/--peers/,/default/p'

install: ## install library, headers, CMake and pkg-config files and the command: make install PREFIX=/usr/local
	@scripts/setup.sh --for build
	@scripts/build.sh release whole_command
	@scripts/install.sh "$(PREFIX)"

deb: ## Debian packages to build/release/packages: libcardan0, libcardan-dev, cardan-tools, cardan-bridge, cardan-opencv, python3-cardan
	@scripts/setup.sh --for demo --for deb
	@scripts/deb.sh

site: ## the documentation and the API reference as a website, to build/site (Doxygen, and mkdocs-material from PyPI)
	@scripts/setup.sh --for site
	@NO_MKDOCS_2_WARNING=1 build/venv/bin/mkdocs build --strict
	@echo "make: build/site/index.html; with search: python3 -m http.server --directory build/site"

format: ## format all sources in place
	@scripts/lint.sh --fix

lint: ## check formatting and run clang-tidy
	@scripts/setup.sh --for test-deep
	@scripts/lint.sh

clean: ## remove what was built (the street video and the Python packages stay; make distclean removes all)
	@rm -rf $(filter-out build/data build/venv build/pcl build/opencv build/npm build/ecal,$(wildcard build/*))

.PHONY: distclean
distclean: ## remove all of build
	@rm -rf build

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\): ## /\1|/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{printf "  make %-11s %s\n", $$1, $$2}'
