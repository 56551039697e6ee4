// Package awkward contains only tests, which run every method and every model on valid but awkward data.
// testdata/methods.txt and testdata/models.txt list the outcomes: a result of finite numbers, or an error. Others test
// long and repeated work: which resources a process holds after many condensations, whether concurrent condensations
// affect each other, and how soon each call returns after cancellation.
package awkward
