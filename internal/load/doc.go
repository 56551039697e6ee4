// Package load has no code, only tests of long and of repeated work: what a process holds after many condensations,
// what several at once do to one another, and how soon each call returns when its context ends.
package load
