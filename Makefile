# The two commands of the README are `make demo` and `make test`.

CARGO ?= cargo
# Cargo may have just been installed for this user only.
export PATH := $(PATH):$(HOME)/.cargo/bin
TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: demo test test-other-kernel build page setup setup-test setup-bench lint without-ebpf generate \
	check-generated bench install clean

demo: setup build ## install what is missing, build, record a benchmark, draw it
	@scripts/demo.sh $(abspath $(TARGET))/release/sonde

test: setup-test page ## all tests
	# A shell that started us in the background has set these to be ignored; tests send them.
	env --default-signal=INT,QUIT $(CARGO) test --workspace --no-fail-fast

build: setup page
	$(CARGO) build --release

page: setup ## the web page of `sonde view`, into web/dist; needs Node 20
	@scripts/page.sh

setup:
	@scripts/setup.sh build

setup-test:
	@scripts/setup.sh test

setup-bench:
	@scripts/setup.sh bench

lint: setup-test page ## formatting and lints, as CI has them
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	@[ ! -d web/node_modules ] || (cd web && npm run --silent lint)

without-ebpf: setup-test page ## the build without eBPF, which needs no clang: lints, and what it says
	CLANG=/nonexistent $(CARGO) clippy -p sonde -p sources --no-default-features --all-targets -- -D warnings
	CLANG=/nonexistent $(CARGO) test -p sources --no-default-features --test lacking

test-other-kernel: setup-test ## on Debian's kernel, in a virtual machine: kinds of disks, NFS (ten minutes)
	$(CARGO) build
	@scripts/other-kernel/all.sh $(abspath $(TARGET))/debug/sonde

generate: ## write the generated files anew
	$(CARGO) build
	scripts/generate.sh $(TARGET)/debug/sonde

check-generated: ## fail where a generated file is not what the code makes
	$(CARGO) build
	rm -rf $(TARGET)/generated
	scripts/generate.sh $(TARGET)/debug/sonde $(TARGET)/generated
	for f in $(TARGET)/generated/*; do diff -u docs/reference/$$(basename $$f) $$f || exit 1; done

bench: setup-bench build ## all measurements (as root half an hour); results in bench/runs
	bench/run.sh --build

install: build
	install -D $(TARGET)/release/sonde $(DESTDIR)/usr/local/bin/sonde
	install -D -m 644 docs/reference/sonde.1 $(DESTDIR)/usr/local/share/man/man1/sonde.1
	install -D -m 644 docs/reference/completion.bash $(DESTDIR)/usr/local/share/bash-completion/completions/sonde
	install -D -m 644 docs/reference/completion.zsh $(DESTDIR)/usr/local/share/zsh/site-functions/_sonde
	install -D -m 644 docs/reference/completion.fish $(DESTDIR)/usr/local/share/fish/vendor_completions.d/sonde.fish

clean:
	$(CARGO) clean
	rm -rf demo
