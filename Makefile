# SPDX-License-Identifier: GPL-2.0
#
#   make              the module for KERNEL, the BPF programs, and the tool
#   make demo         what it does: two virtual machines, a table and a picture
#   make check        all tests
#   make check-debug  the tests in machines, on a kernel with KASAN and lockdep
#   make check-races  those with traffic, on a kernel with KCSAN
#   make soak         mixed traffic under random faults and settings for SOAK_S=3600 seconds
#   make measure      what paths that fail cost, and what policies do, whole: an hour, figures in build/check/
#   make bench        what rocepath costs, and what it gains beside bonding and the like: docs/benchmarks.md. It takes an hour
#                     or more; its parts are bench-native, bench-sim, bench-vm (40 minutes). BENCH_QUICK=1: a smoke run, minutes
#   make bench-compare OLD=a.json NEW=b.json    what became slower
#   make fuzz         fuzzers, FUZZ_S=60 seconds each; how often each ran so far is in build/fuzz/executions.json
#   make matrix       kernels from 6.1 to 7.x, built for and booted, gcc and clang, arm64, 32 bits, big endian: a table
#   make lint         checkpatch, sparse, shellcheck and the like
#   make install      the tool, its man page and completion, the module's source for DKMS
#
# KERNEL is a stock kernel, fetched into a cache outside the tree: 6.12, 6.1,
# debug or races. KDIR is any other one: make module KDIR=/lib/modules/$(uname -r)/build
# TESTS selects tests, SKIP leaves some out: make check TESTS='unit/* vm/test_order.py'. V=1 shows commands.

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory

KERNEL ?= 6.12
KERNELS := 6.12 6.1
FUZZ_S ?= 60
SOAK_S ?= 3600
B := $(CURDIR)/build
Q := $(if $(filter 1,$(V)),,@)
VERSION := $(shell cat VERSION)
DESTDIR ?=
PREFIX ?= /usr/local

SOURCES := Kbuild VERSION kmod include
SOURCE_FILES := $(shell find $(SOURCES) -name '*.[ch]') Kbuild VERSION

all: module tool

setup:
	$(Q)scripts/setup

bpf: setup
	$(Q)$(MAKE) -C bpf O=$(B)/bpf

tool: setup bpf
	$(Q)$(MAKE) -C user O=$(B)/user

# kdir KERNEL: where to build a module for it; fetched or built when it is not in the cache
kdir = $(or $(if $(filter debug,$(1)),$$(scripts/debug-kernel)),$(if $(filter races,$(1)),$$(scripts/debug-kernel --races)),$$(scripts/kernels $(1)))/build

ifdef KDIR
module: setup $(B)/kdir/rocepath.ko
$(B)/kdir/rocepath.ko: $(SOURCE_FILES)
	$(Q)scripts/build-module $(KDIR) $(@D)
else
module: setup $(B)/$(KERNEL)/rocepath.ko
endif

$(foreach k,$(KERNELS) debug races,$(B)/$(k)/rocepath.ko): $(B)/%/rocepath.ko: $(SOURCE_FILES)
	$(Q)scripts/build-module "$(call kdir,$*)" $(@D)

# the tests of the logic, as a KUnit suite
KUNIT := $(B)/debug/kunit/rocepath_kunit.ko
$(KUNIT): $(SOURCE_FILES) $(wildcard selftests/kunit/* selftests/unit/*.[ch])
	$(Q)scripts/build-module -k "$(call kdir,debug)" $(@D)

# $(1): kernels whose modules the tests want
modules = $(foreach k,$(1),$(B)/$(k)/rocepath.ko)

check: setup tool
	$(Q)$(MAKE) $(call modules,$(KERNELS))
	$(Q)$(MAKE) -C selftests run_tests OUTPUT=$(B)/selftests TESTS='$(TESTS)' SKIP='$(SKIP)'

check-debug: setup tool
	$(Q)$(MAKE) $(call modules,debug 6.1) $(KUNIT)
	$(Q)ROCEPATH_KERNEL=debug $(MAKE) -C selftests run_tests OUTPUT=$(B)/selftests-debug PROGRAMS=$(B)/selftests TESTS='$(or $(TESTS),vm/test_* vm/debug_*)'

RACES := vm/test_traffic.py vm/test_order.py vm/test_failure.py vm/test_lifecycle.py vm/test_lives.py vm/test_hostile.py
check-races: setup tool
	$(Q)$(MAKE) $(call modules,races)
	$(Q)ROCEPATH_KERNEL=races $(MAKE) -C selftests run_tests OUTPUT=$(B)/selftests-races PROGRAMS=$(B)/selftests TESTS='$(or $(TESTS),$(RACES))'

demo: setup tool
	$(Q)$(MAKE) $(B)/$(KERNEL)/rocepath.ko
	$(Q)selftests/demo/demo.py --out $(B)/demo

measure: setup tool
	$(Q)$(MAKE) $(B)/$(KERNEL)/rocepath.ko
	$(Q)$(MAKE) -C selftests OUTPUT=$(B)/selftests
	$(Q)ROCEPATH_KERNEL=$(KERNEL) selftests/vm/test_paths.py --full
	$(Q)selftests/vm/test_bpf.py --full
	$(Q)ROCEPATH_KERNEL=$(KERNEL) selftests/vm/test_policy.py --full

soak: setup tool
	$(Q)$(MAKE) $(B)/$(KERNEL)/rocepath.ko
	$(Q)$(MAKE) -C selftests OUTPUT=$(B)/selftests
	$(Q)ROCEPATH_KERNEL=$(KERNEL) selftests/vm/soak.py $(SOAK_S)

# a quick run leaves alone what a whole one has measured
BENCH := $(B)/bench$(if $(BENCH_QUICK),/quick)
BENCH_DOC := $(if $(BENCH_QUICK),$(BENCH),docs)/benchmarks.md

bench: bench-native bench-sim bench-vm
	$(Q)selftests/bench/plot $(BENCH)
	$(Q)selftests/bench/document $(BENCH)/bench.json > $(BENCH_DOC).new
	$(Q)mv $(BENCH_DOC).new $(BENCH_DOC)
	@echo "  DOC     $(BENCH_DOC)"

bench-compare:
	$(Q)selftests/bench/compare $(OLD) $(NEW)

bench-native:
	$(Q)scripts/setup bench
	$(Q)$(MAKE) -C selftests/bench O=$(B)/bench BPF=$(B)/bpf

bench-sim: setup
	$(Q)$(MAKE) -C selftests/bench sim O=$(B)/bench

bench-vm: tool
	$(Q)scripts/setup bench-vm
	$(Q)$(MAKE) $(B)/$(KERNEL)/rocepath.ko
	$(Q)$(MAKE) -C selftests OUTPUT=$(B)/selftests $(B)/selftests/rcstream
	$(Q)ROCEPATH_KERNEL=$(KERNEL) $(MAKE) -C selftests/bench vm O=$(B)/bench

fuzz: setup
	$(Q)$(MAKE) -C selftests/fuzz check O=$(B)/fuzz SECONDS=$(FUZZ_S)

matrix: setup
	$(Q)scripts/setup matrix
	$(Q)scripts/matrix

lint: setup
	$(Q)scripts/lint

install: tool
	$(Q)$(MAKE) -C user install O=$(B)/user DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	$(Q)mkdir -p $(DESTDIR)/usr/src/rocepath-$(VERSION)
	$(Q)cp -r $(SOURCES) $(DESTDIR)/usr/src/rocepath-$(VERSION)/
	$(Q)sed 's/@VERSION@/$(VERSION)/' dkms.conf.in > $(DESTDIR)/usr/src/rocepath-$(VERSION)/dkms.conf
	@echo "The module: dkms install rocepath/$(VERSION)"

clean:
	$(Q)rm -rf build

.PHONY: all setup bpf tool module check check-debug check-races demo measure soak bench bench-native bench-sim bench-vm bench-compare \
	fuzz matrix lint install clean
