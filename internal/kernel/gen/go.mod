module github.com/graph-condensation/cgc/internal/kernel/gen

go 1.26

require (
	github.com/mmcloughlin/avo v0.6.0
	golang.org/x/tools v0.26.0
)

require (
	golang.org/x/mod v0.21.0 // indirect
	golang.org/x/sync v0.8.0 // indirect
)
