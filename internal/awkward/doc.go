// Package awkward has no code, only tests: what comes out of data that is legal and awkward. Every method and every
// model meets every graph. testdata/methods.txt and testdata/models.txt say what comes out: a result whose numbers are
// all finite, or the sentence of the error.
package awkward
