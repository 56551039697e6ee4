# Everything here is a command that can be typed as well. Release artifacts need Go, git, and Python 3.9 with pip.

.PHONY: build install test check dist reproducible

build: # the command, into this folder
	CGO_ENABLED=0 go build -trimpath -o cgc ./cmd/cgc

install: # the command, into $GOBIN
	CGO_ENABLED=0 go install -trimpath ./cmd/cgc

test:
	go test -vet=off work

check: # all that CI runs
	bash .ci/run

dist: # archives, wheels, SHA256SUMS and bills of materials of six platforms, into dist/
	python3 python/dist.py dist

reproducible: # two builds of the last commit, from two folders, give the same bytes
	sh .ci/reproducible
