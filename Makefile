# Everything that a contributor runs. Each target installs what it lacks and says what it does.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NATIVE := CMakeLists.txt pyproject.toml $(wildcard native/*.h native/*.cpp)
MINUTES ?= 1
SEED ?= 0
export LANESORT_WERROR ?= ON
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help run test lint unit bench scaling fuzz corpus programs docs nightly generated lock conformance wheel sanitize tsan clean

help:
	@echo "make run      rank the example scores, and show the models at work"
	@echo "make test     lint, types, import contracts, generated files, tests, examples, and two minutes"
	@echo "              of fuzzing (MINUTES=); LOCKED=1 with the exact dependencies of"
	@echo "              requirements/ci.txt (CPython 3.11, x86-64)"
	@echo "make bench    lanesort beside its peers, as ratios; QUICK=1 for a short run"
	@echo "make scaling  time and peak memory at 1e8 and 1e9 elements, beside DuckDB, Polars and Dask;"
	@echo "              QUICK=1 for a short run"
	@echo "make fuzz     fuzz every target, for MINUTES minutes in all; SANITIZE=1: the kernels under"
	@echo "              AddressSanitizer and UBSan, SEED= and SIMD= as for make sanitize"
	@echo "make corpus   keep what fuzzing has found, as few and small inputs as reach the same code"
	@echo "make programs compare random programs on all engines with the stored signatures"
	@echo "make docs     build the documentation, warnings are errors"
	@echo "make wheel    source archive and wheels in dist, audited, installed and tested; PYTHONS= chooses"
	@echo "make nightly  the long tests"
	@echo "make sanitize the native core under AddressSanitizer and UBSan; SIMD= avx2 (the default), sse4,"
	@echo "              scalar, or all in one build"
	@echo "make tsan     the kernels on threads, under ThreadSanitizer"
	@echo "make generated  write the generated files anew"
	@echo "make conformance  examine the sorts of the installed libraries, for the documentation"
	@echo "make lock     resolve the dependencies anew, and write their versions and hashes"
	@echo "make clean    remove what was built"

# One SIMD target builds in a quarter of the time that all take. On other machines than x86-64 there
# is one only, and threads do not depend on it.
SIMD ?= $(if $(filter x86_64,$(shell uname -m)),avx2,native)
SIMD_avx2 := -march=x86-64-v3 -maes -mpclmul -DHWY_COMPILE_ONLY_STATIC
SIMD_sse4 := -march=x86-64-v2 -maes -mpclmul -DHWY_COMPILE_ONLY_STATIC
SIMD_scalar := -DHWY_COMPILE_ONLY_SCALAR
SIMD_native := -DHWY_COMPILE_ONLY_STATIC
ASAN := build/asan-$(SIMD)
SANITIZED_TESTS ?= $(addprefix tests/kernels/test_native_,order.py sort.py top_k.py merge.py compact.py)

# --- what is needed ------------------------------------------------------------------------
$(VENV)/system:
	@tools/system-packages
	@mkdir -p $(VENV) && touch $@

$(BIN)/python: $(VENV)/system $(if $(LOCKED),requirements/ci.txt)
	@echo "==> making a virtual environment in $(VENV)$(if $(LOCKED), with the versions and hashes of requirements/ci.txt)"
	@test -x $@ || $(PYTHON) -m venv $(VENV)
	@$(if $(LOCKED),$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/ci.txt,$(BIN)/pip install --quiet --upgrade 'pip>=25.1')
	@touch $@

$(VENV)/built: $(BIN)/python $(NATIVE)
	@echo "==> building the native core and installing lanesort with its extras (editable)"
	@$(BIN)/pip install --quiet --group build
	@$(BIN)/pip install --quiet --no-build-isolation --editable '.[pto,files]'
	@touch $@

$(VENV)/test: $(VENV)/built
	@echo "==> installing what the tests need$(if $(LOCKED), beyond the lock: PyTorch)"
	@$(BIN)/pip install --quiet --group test --group lint
	@touch $@

$(VENV)/bench: $(VENV)/test
	@echo "==> installing the peers of the benchmark"
	@$(BIN)/pip install --quiet --group bench
	@touch $@

$(VENV)/docs: $(VENV)/built
	@echo "==> installing what the documentation needs"
	@$(BIN)/pip install --quiet --group docs
	@touch $@

# --- what is done --------------------------------------------------------------------------
run: $(VENV)/built
	@$(BIN)/python examples/run.py

lint: $(VENV)/test
	@echo "==> ruff, mypy --strict, import contracts"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

unit: $(VENV)/test
	@echo "==> tests and examples"
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m 'not nightly'

test: lint unit
	@$(MAKE) --no-print-directory fuzz MINUTES=$(if $(filter command environment,$(origin MINUTES)),$(MINUTES),2)

nightly: $(VENV)/test
	@echo "==> the long tests"
	@$(BIN)/pip install --quiet --group wheel
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m nightly --timeout 7200

bench: $(VENV)/bench
	@$(BIN)/python -m bench $(if $(QUICK),--quick)

scaling: $(VENV)/bench
	@$(BIN)/python -m bench scaling $(if $(QUICK),--quick)

# Where there is no atheris to install, the kept inputs are run without it.
fuzz: $(if $(SANITIZE),$(ASAN)/built,$(VENV)/test)
ifdef SANITIZE
	@tools/sanitized-python $(ASAN) $(BIN)/python -m fuzz --unguided --only core,merge --minutes $(MINUTES) --seed $(SEED)
else
	@$(BIN)/pip install --quiet --only-binary :all: --group fuzz || echo "==> no atheris for this Python and machine"
	@$(BIN)/python -m fuzz --minutes $(MINUTES) --seed $(SEED)
endif

corpus: $(VENV)/test
	@$(BIN)/pip install --quiet --group fuzz
	@$(BIN)/python -m fuzz.corpus

programs: $(VENV)/test
	@$(BIN)/python -m fuzz.programs --processes 2

wheel: $(VENV)/built
	@$(BIN)/pip install --quiet --group wheel
	@$(BIN)/python tools/wheel.py $(PYTHONS)

docs: $(VENV)/docs
	@$(BIN)/python docs/generate.py --check
	@$(BIN)/python -m sphinx --fail-on-warning --keep-going -b html docs docs/_build/html

lock: $(VENV)/test
	@echo "==> resolving what make test and make fuzz install"
	@$(BIN)/python tools/lock.py

generated: $(VENV)/test
	@$(BIN)/python docs/generate.py

# Unoptimised as far as that is quick to build: -O1, without warnings that only appear there.
SANITIZER_BUILD = $(BIN)/cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG='-O1 -g1 $(SIMD_$(SIMD))' \
  -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) -S .

$(ASAN)/built: $(VENV)/test $(NATIVE)
	@echo "==> building the native core with AddressSanitizer and UBSan for SIMD target $(SIMD)"
	@mkdir -p $(ASAN)
	@$(SANITIZER_BUILD) -B $(ASAN) -DLANESORT_SANITIZE=address,undefined >$(ASAN).log
	@$(BIN)/cmake --build $(ASAN) --target _core >>$(ASAN).log
	@touch $@

sanitize: $(ASAN)/built
	@tools/sanitized-python $(ASAN) $(BIN)/python -m pytest -q -x -p no:cacheprovider -p no:xdist $(SANITIZED_TESTS)

tsan: $(VENV)/test
	@echo "==> building the kernels with ThreadSanitizer, and running them on threads"
	@mkdir -p build
	@$(SANITIZER_BUILD) -B build/tsan -DLANESORT_SANITIZE=thread -DLANESORT_HARNESS=ON >build/tsan.log
	@$(BIN)/cmake --build build/tsan --target lanesort_threads >>build/tsan.log
	@TSAN_OPTIONS=halt_on_error=1 build/tsan/lanesort_threads $(filter-out 0,$(SEED))

conformance: $(VENV)/bench
	@$(BIN)/lanesort conformance -o docs/conformance-table.md

clean:
	rm -rf build dist docs/_build bench/out $(VENV) src/lanesort/_core.*.so
