module github.com/graph-condensation/cgc

go 1.26.0

require (
	github.com/klauspost/compress v1.20.3
	github.com/nlpodyssey/gopickle v0.3.0
	go.yaml.in/yaml/v3 v3.0.4
	golang.org/x/sys v0.48.0
	gonum.org/v1/gonum v0.17.0
	pgregory.net/rapid v1.3.0
)

require golang.org/x/text v0.23.0 // indirect
