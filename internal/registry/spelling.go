package registry

import (
	"slices"
	"strings"
)

// Near returns at most three similar words from the list among, the nearest first. Similar words are within Distance 1
// + len/4, where len is the length of the shorter word, or begin with word, if it has at least three letters or a
// hyphen follows it. Near ignores case. If the list contains word, it returns nil.
func Near(word string, among []string) []string {
	if slices.Contains(among, word) {
		return nil
	}
	type found struct {
		name     string
		distance int
	}
	var all []found
	word = strings.ToLower(word)
	for _, name := range among {
		lower := strings.ToLower(name)
		d := Distance(word, lower)
		begins := len(word) >= 3 && strings.HasPrefix(lower, word) || word != "" && strings.HasPrefix(lower, word+"-")
		if begins || d <= 1+min(len(lower), len(word))/4 {
			all = append(all, found{name, d})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.distance - b.distance })
	var names []string
	for _, f := range all[:min(3, len(all))] {
		names = append(names, f.name)
	}
	return names
}

// Hint returns "; did you mean A or B?" with the words of Near, each after prefix, or "".
func Hint(prefix, word string, among []string) string {
	near := Near(word, among)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + prefix + strings.Join(near, " or "+prefix) + "?"
}

// Distance returns the number of insertions, deletions, replacements and swaps of neighbouring letters that turn a into
// b (the restricted distance of Damerau and Levenshtein, in bytes).
func Distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
