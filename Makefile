# The two headline targets do all their own set-up on Debian 12, packages included (SETUP=: leaves that out):
#   make demo       a small MPI simulation is drained, killed, started again, and ends as if nothing had happened
#   make check-all  builds everything with its tests and runs them; make check does so for unit tests and verbs alone
SETUP ?= tools/setup.sh
JOBS ?= $(shell nproc)
# Tests wait for more than half of their time: for times that are over, and for each other.
TEST_JOBS ?= $(shell echo $$(($(JOBS) * 2)))
PREFIX ?= /usr/local

.DEFAULT_GOAL := build
.PHONY: help setup build demo demo-adaptable demo-tiers demo-looking-in check check-all check-codes docs bench install format clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup:  ## install the packages that the build and the tests need
	@$(SETUP)

build: setup  ## the command, build/release/bin/forebay
	@cmake --preset release
	@cmake --build --preset release -j $(JOBS)

demo: setup  ## the demonstration (examples/demo.sh), in three to four minutes on two cores
	@cmake --preset demo
	@cmake --build --preset demo -j $(JOBS)
	@examples/demo.sh build/demo/bin

demo-adaptable: setup  ## one program writes by six methods (examples/adaptable/demo.sh), in less than a minute
	@cmake --preset demo -DFOREBAY_ADIOS_MPI=ON
	@cmake --build --preset demo -j $(JOBS) --target command forebay-mini-adios forebay_method_phdf5 forebay_method_nc4
	@examples/adaptable/demo.sh build/demo/bin

demo-tiers: setup  ## nodes are lost under each redundancy scheme (examples/tiers/demo.sh), in less than a minute
	@cmake --preset demo -DFOREBAY_SCR=ON
	@cmake --build --preset demo -j $(JOBS) --target command forebay-mini-sim forebay-mini-scr
	@examples/tiers/demo.sh build/demo/bin

demo-looking-in: setup  ## a mount, a plane from files in it, a BP file into a store and back, a report; in less than a minute
	@cmake --preset demo
	@cmake --build --preset demo -j $(JOBS) --target command forebay-mini-sim
	@examples/looking-in/demo.sh build/demo/bin build/demo/looking-in

check: setup  ## build the command and run the unit tests and those of its verbs
	@cmake --preset check
	@cmake --build --preset check -j $(JOBS) --target quick
	@ctest --preset check -j $(TEST_JOBS) -L quick

check-all: setup  ## build everything and run all tests
	@tools/test-packages.sh
	@cmake --preset check
	@cmake --build --preset check -j $(JOBS)
	@ctest --preset check -j $(TEST_JOBS)

check-codes: setup  ## real codes of Debian, killed and resumed (tests/codes), installed if they are not there
	@tools/setup.sh lammps openfoam gromacs quantum-espresso
	@cmake --preset check
	@cmake --build --preset check -j $(JOBS) --target command
	@ctest --preset check -L codes

docs:  ## the pages of docs/ as a site with a search, build/site/index.html (MkDocs, installed below build/)
	@tools/docs.sh

bench: build  ## the short benchmarks
	@bench/run build/release/bin

install: build  ## install under PREFIX (/usr/local)
	@cmake --install build/release --prefix $(PREFIX)

format:  ## format the sources
	@tools/format.sh

clean:  ## remove all that was built
	@rm -rf build
