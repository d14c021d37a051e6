# Short names for what CMake, ctest and the tools do. `make test` and
# `make demo` are enough for a visitor: both install what is missing first.

PYTHON ?= /usr/bin/python3
CLI = build/release/lakestream
BENCH_STORE = $(or $(STORE),file:///dev/shm/lakestream-bench)
OUR_C = find include src cli tests bench examples python -name '*.[ch]' 2>/dev/null

# The thread sanitizer wants the addresses of a machine that does not
# randomise them; where that cannot be had, it is tried as things are.
FIXED_ADDRESSES = $(shell setarch -R true 2>/dev/null && echo setarch -R)

.NOTPARALLEL:
.PHONY: help test demo matrix modern quick asan tsan fuzz bench bench-flat bench-pacing \
	bench-processes build bench-reclaim soak tidy lint format format-check deps deps-test \
	deps-fuzz clean

help:
	@echo "make test                        everything, also under sanitizers"
	@echo "make demo [DATA=dir] [STORE=url] the main job on real text"
	@echo "make demo STORE=s3               the same on Ceph's S3 gateway"
	@echo "make quick | asan | tsan         one build and its quick tests"
	@echo "make fuzz [SECONDS=60]           each decoder for so long"
	@echo "make bench [STORE=url]           against the raw store, and fio"
	@echo "make bench-pacing                commit policies, in a model"
	@echo "make bench-processes             and in processes, on real stores"
	@echo "make bench-reclaim               storage, with and without reclaim"
	@echo "make soak [SECONDS=1200]         a stream's life, with kills"
	@echo "make matrix                      resuming PyTorch's loaders, all ways"
	@echo "make modern                      the same tests on a newer PyTorch"
	@echo "make bench-flat                  what a stream's length costs"
	@echo "make build                       the release build"
	@echo "make tidy | format-check         the rules of CONTRIBUTING.md"
	@echo "make format | lint | clean"

# A failure in one build does not hide what the next one finds. The fuzzers
# only take a short look each.
test: deps-test deps-fuzz
	@failed=; \
	for preset in dev asan tsan fuzz; do \
		$(MAKE) --no-print-directory check-$$preset \
			|| failed="$$failed $$preset"; \
	done; \
	if [ -n "$$failed" ]; then \
		echo "make test: failed in:$$failed" >&2; \
		exit 1; \
	fi

# Make gives variables of its command line to the shell, whatever is in them.
ifeq ($(STORE),s3)
# On Ceph's object gateway, which is started for it and stopped afterwards.
demo: build deps-test
	LAKESTREAM=$(abspath $(CLI)) $(PYTHON) tests/s3/rgw.py sh -c '$(PYTHON) \
		examples/demo/demo.py --store "$$LKS_S3_URL" \
		$${DATA:+--data "$$DATA"}'
else
demo: build
	LAKESTREAM=$(abspath $(CLI)) $(PYTHON) examples/demo/demo.py \
		$${DATA:+--data "$$DATA"} $${STORE:+--store "$$STORE"}
endif

quick: deps check-quick
asan: deps check-asan
tsan: deps check-tsan

fuzz: SECONDS = 60
fuzz: deps-fuzz check-fuzz

build: deps
	cmake --preset release >/dev/null
	cmake --build --preset release

# The tables of docs/benchmarks/core.md, a quarter of an hour; or, on another store,
# one row of each side. A stream's prefix is used once, so each gets its own.
bench: build
ifeq ($(STORE),)
	$(PYTHON) bench/speed/speed_grid.py --lakestream $(CLI) \
		--out docs/benchmarks
else
	set -e; for what in ingest consume; do \
		$(CLI) bench $$what $(STORE)/$$what-$$$$; \
	done
endif

# Storage over a training run, with and without reclaiming.
bench-reclaim: build
	LAKESTREAM=$(CLI) PYTHON=$(PYTHON) bench/reclaim/reclaim_run.sh

# A stream's whole life, everybody killed at random, for so long.
soak: SECONDS = 1200
soak: build
	room=$$(mktemp -d) && cd $$room && LAKESTREAM=$(abspath $(CLI)) \
		LIFE_SECONDS=$(SECONDS) $(PYTHON) $(CURDIR)/tests/crash/life.py \
		&& rm -rf $$room

# Tables and plots for docs/benchmarks/, from the model; a few minutes.
bench-pacing: build
	PYTHON=$(PYTHON) bench/pacing/run.sh

# Producer processes on three stores, beside the model: some 17 minutes, and
# nothing else should run. Needs Ceph's gateway.
bench-processes: build deps-test
	$(PYTHON) tests/s3/rgw.py sh -ec 'for case in file rgw far; do \
		$(PYTHON) bench/pacing/real_processes.py $$case \
			--out docs/benchmarks; done'

# Every combination of loaders, workers and places to resume at.
matrix: deps-test built-dev
	ctest --preset dev -R '^python.install$$'
	cd build/dev && LAKESTREAM_TEST_MATRIX=all tests/python/bin/python -m pytest \
		-q -p no:cacheprovider $(CURDIR)/tests/python/test_matrix.py

# What a stream's length costs: the table of docs/benchmarks/flat-cost.md; some
# 5 GB of memory, and two minutes.
bench-flat: build
	$(PYTHON) bench/flat/flat_cost.py --lakestream $(CLI) \
		--store $(BENCH_STORE) --out docs/benchmarks \
		--results build/release/flat
	$(if $(STORE),,rm -rf /dev/shm/lakestream-bench)

# The tests of what newer PyTorchs have, on Debian 13 in a folder; as root, with
# debootstrap.
modern: FOLDER = build/debian-13
modern:
	mkdir -p build
	tests/python/modern.sh $(FOLDER)

tidy:
	$(PYTHON) tools/tidy.py

lint: built-dev
	$(OUR_C) | grep '\.c$$' | xargs clang-tidy --quiet -p build/dev

format:
	$(OUR_C) | xargs clang-format -i

format-check:
	$(OUR_C) | xargs clang-format --dry-run -Werror

clean:
	rm -rf build

deps:
	@tools/install_deps.sh

# Ceph's object gateway: the server that the S3 tests start. Python's headers
# and PyTorch.
deps-test: deps
	@tools/install_deps.sh python radosgw ceph-mon ceph-osd ceph-common

deps-fuzz: deps
	@tools/install_deps.sh clang libclang-rt-14-dev

check-quick: built-dev
	ctest --preset quick

check-tsan: built-tsan
	$(FIXED_ADDRESSES) ctest --preset tsan

check-fuzz:
	cmake --preset fuzz -DLKS_FUZZ_SECONDS=$(or $(SECONDS),5) >/dev/null
	cmake --build --preset fuzz
	ctest --preset fuzz

check-%: built-%
	ctest --preset $*

built-%:
	cmake --preset $* >/dev/null
	cmake --build --preset $*
