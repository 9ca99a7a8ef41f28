# make         builds bin/mlpimage and bin/clgrad, with OpenCL if there is a C compiler that works
# make demo    trains on testdata/lake.png
# make test    installs what the tests need, and runs what every change must pass
# make test-more  the rest, for CI and before a release: other systems and processors, optimized kernels, all under the race detector, a real Slurm
# make sweep   thousands of random recorded steps, all kernels in every form, and tests of the engine in float64, on the Go device and PoCL: an hour; others with SEED=N
# make release  builds and packs both programs for Linux, macOS and Windows, with checksums, from a tree without changes
# make bench   benchmarks of the kernels and of a training step
# make bench-ops  times every operation beside PyTorch, forward and backward: hours; fewer with OPS, DEVICES, SIZES and CORES
# make onnx-score  runs the ONNX project's tests: of ../shared/onnx, or what TESTS says, a folder or an archive; on the Go device, or DEVICE
# make fuzz    fuzzes everything that reads bytes from outside, a minute each
# make generate  makes what is made of other files: the methods of Tensor and Node, assembly, the numbers of new operations, docs/operations.md
# make mutants  makes small faults in the engine and shows those that no test finds: three to four hours
# make golden  regenerates the reference numbers in testdata/golden and testdata/examples, with PyTorch
# make safetensors  regenerates the files of testdata/safetensors
# make pytorch  regenerates the files of testdata/pytorch, with PyTorch
# make layers  regenerates the files of testdata/layers, with PyTorch
# make notebook  runs docs/notebook/main.go and makes the Jupyter notebook beside it
# make generation  regenerates the files of testdata/generation, with PyTorch and Hugging Face's transformers
# make exchange  loads what the layers of package nn write into PyTorch, and compares the two

GO ?= go
CC ?= cc
OUT ?= out

# go-opencl includes "cl.h", which is ours: a build needs no OpenCL SDK. It also says #import, which GCC
# calls deprecated.
export CGO_CFLAGS := -O2 -g -I$(CURDIR)/clrt/include -Wno-deprecated

# A compiler that is there need not compile: gcc without libc6-dev finds no <stdlib.h>.
COMPILES := $(shell dir=$$(mktemp -d) && \
	printf '\043include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n' >$$dir/a.c && \
	$(CC) -o $$dir/a $$dir/a.c 2>/dev/null && echo yes; rm -rf "$$dir")
ifeq ($(COMPILES),yes)
TAGS := -tags opencl
else
export CGO_ENABLED := 0
endif

.PHONY: build demo test test-more sweep release bench bench-ops onnx-score fuzz generate mutants golden safetensors pytorch layers notebook generation exchange clean
build:
ifneq ($(COMPILES),yes)
	@echo "building without OpenCL, for $(CC) cannot compile C (Debian: apt-get install gcc libc6-dev); with OpenCL mlpimage is faster, on a GPU by far"
endif
	@mkdir -p bin
	$(GO) build $(TAGS) -o bin/ ./cmd/mlpimage ./cmd/clgrad

demo: build
	@mkdir -p $(OUT)
	bin/mlpimage testdata/lake.png -o $(OUT)/lake.png --plot $(OUT)/loss.svg
	@echo "the reconstruction is $(OUT)/lake.png, the loss curve $(OUT)/loss.svg"

test:
	scripts/setup.sh
	scripts/test.sh

test-more:
	scripts/setup-more.sh
	scripts/test-more.sh

SWEPT = ./internal/lower ./tensor ./replay ./autograd ./optim ./imagefit ./fusedmlp ./hashgrid ./linalg ./fft ./data ./internal/catalog ./examples/...
SEED ?= 1
sweep:
	CLGRAD_SWEEP=$(SEED) CLGRAD_TEST_DEVICES=cpu,pocl $(GO) test $(TAGS) -count=1 -timeout 120m $(SWEPT)

release:
	scripts/release.sh $(OUT)/release

bench:
	$(GO) test $(TAGS) -run '^$$' -bench . ./tensor ./hashgrid ./imagefit

# PYTHON has PyTorch: that of a virtual environment in .build/torch, where there is one. FIRST_CORE is the first core to use.
#   python3 -m venv .build/torch && .build/torch/bin/pip install torch numpy
#   make bench-ops OPS=TopK,Sort DEVICES=cpu SIZES=1e6 CORES=1
comma := ,
PYTHON ?= $(firstword $(wildcard .build/torch/bin/python) python3)
DEVICES ?= $(if $(TAGS),cpu$(comma)pocl,cpu)
SIZES ?= 1e4,1e6,1e7
CORES ?= 1,2
FIRST_CORE ?= 0
BENCH_OPS ?= $(OUT)/bench-ops.jsonl
bench-ops:
	@mkdir -p .build
	$(GO) build $(TAGS) -o .build/benchops ./scripts/benchops
	.build/benchops -python $(PYTHON) -ops '$(OPS)' -devices $(DEVICES) -sizes $(SIZES) -cores $(CORES) -first-core $(FIRST_CORE) -o $(BENCH_OPS)

DEVICE ?= cpu
TESTS ?= $(firstword $(wildcard ../shared/onnx/node-tests-*.tar.xz /usr/share/libonnx-testdata/data))
onnx-score:
	@[ -n "$(TESTS)" ] || { echo "there are no tests: apt-get install libonnx-testdata, or make onnx-score TESTS=FOLDER" >&2; exit 1; }
	@$(GO) run $(TAGS) ./scripts/onnxscore -device $(DEVICE) $(TESTS)

FUZZTIME ?= 1m
# Minimising an input that is interesting would take the whole minute.
FUZZ = $(GO) test -run '^$$' -fuzzminimizetime 10x -fuzztime $(FUZZTIME) -fuzz
fuzz:
	$(FUZZ) FuzzRead ./internal/npz
	$(FUZZ) FuzzDecode ./internal/npz
	$(FUZZ) FuzzReadNPZ ./tensor
	$(FUZZ) FuzzOpen ./internal/safetensors
	$(FUZZ) FuzzReadModel ./internal/onnxpb
	$(FUZZ) FuzzLoad ./onnx
	$(FUZZ) FuzzEach ./internal/torchfile
	$(FUZZ) FuzzReadSafetensors ./tensor
	$(FUZZ) FuzzRead ./checkpoint
	$(FUZZ) FuzzReadIDX ./data
	$(FUZZ) FuzzReadCSV ./data
	$(FUZZ) FuzzParse ./internal/einsum
	$(FUZZ) FuzzDecodeImage ./imagefit
	$(FUZZ) FuzzDecodeModel ./imagefit
	$(FUZZ) FuzzDecodeCheckpoint ./imagefit
	$(FUZZ) FuzzSelect ./clrt
	$(FUZZ) FuzzParseTasks ./cmd/mlpimage

# The generator of assembly is a module of its own: who uses clgrad does not download it. Without NumPy the numbers stay.
generate:
	@GO="$(GO)" PYTHON="$(PYTHON)" scripts/generate.sh

# MUTANTS names packages and files: make mutants MUTANTS="nn tensor/view.go".
mutants:
	nice -n 19 $(GO) run ./scripts/mutants $(MUTANTS)

golden:
	@mkdir -p testdata/golden
	python3 scripts/golden.py testdata/golden
	/usr/bin/python3 -B scripts/examples/reference.py testdata/examples
	python3 -B scripts/optimizers.py testdata/golden
	$(PYTHON) -B scripts/printing.py testdata/printing.json

safetensors:
	/usr/bin/python3 -B scripts/safetensors.py testdata/safetensors

pytorch:
	@mkdir -p testdata/pytorch
	$(PYTHON) -B scripts/torchfiles.py testdata/pytorch

layers:
	@mkdir -p testdata/layers
	/usr/bin/python3 -B scripts/layers.py testdata/layers

notebook:
	$(GO) run ./scripts/notebook docs/notebook/main.go docs/notebook/clgrad.ipynb

generation:
	$(PYTHON) -B scripts/generation/reference.py testdata/generation

exchange:
	@dir=$$(mktemp -d) && $(GO) test ./nn -count 1 -run 'TestLayers$$' -layers $$dir && \
		/usr/bin/python3 -B scripts/layers.py --check $$dir; status=$$?; rm -rf "$$dir"; exit $$status

clean:
	rm -rf bin $(OUT) .build
