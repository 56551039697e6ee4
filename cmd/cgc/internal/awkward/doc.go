// Package awkward contains only tests, which run every method and every model on valid but awkward data.
// testdata/methods.txt and testdata/models.txt list the outcomes: a result of finite numbers, or an error.
package awkward
