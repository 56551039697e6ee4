// Package load contains only tests of long and repeated work: which resources a process holds after many condensations,
// whether concurrent condensations affect each other, and how soon each call returns after cancellation.
package load
