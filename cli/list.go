package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// list is a flag of several values, separated by commas, each named once.
type list[T comparable] struct {
	values *[]T
	parse  func(word string) (T, error)
	kind   string
}

// Set reads the value from the command line.
func (l *list[T]) Set(text string) error {
	*l.values = nil
	for word := range strings.SplitSeq(text, ",") {
		v, err := l.parse(strings.TrimSpace(word))
		if err != nil {
			return errors.New(l.want())
		}
		for _, is := range *l.values {
			if is == v {
				return errors.New(l.want())
			}
		}
		*l.values = append(*l.values, v)
	}
	return nil
}

// String writes the value as Set reads it.
func (l *list[T]) String() string {
	if l.values == nil { // the parser asks the zero value
		return ""
	}
	words := make([]string, len(*l.values))
	for i, v := range *l.values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ",")
}

// Type is the word for the value in the command's help.
func (l *list[T]) Type() string { return l.kind }
func (l *list[T]) want() string { return "different " + l.kind + ", separated by commas" }

// some is a flag of several words of a few possible ones, separated by commas. A word that is repeated counts once. The
// word "all" stands for all of them.
type some[T ~string] struct {
	values *[]T
	among  []T
}

// addSome gives cmd a flag of several words. The words, and their completion, are those of among.
func addSome[T ~string](cmd *cobra.Command, values *[]T, name string, among []T, usage string) {
	s := some[T]{values, among}
	cmd.Flags().Var(s, name, usage+": "+joinWords(among, ","))
	words := strings.Split(joinWords(among, ","), ",")
	if err := cmd.RegisterFlagCompletionFunc(name, listOf(func() []string { return words })); err != nil {
		panic(err) // the flag was added above
	}
}

// Set reads the value from the command line.
func (s some[T]) Set(text string) error {
	if strings.TrimSpace(text) == "all" {
		*s.values = slices.Clone(s.among)
		return nil
	}
	var read []T
	for word := range strings.SplitSeq(text, ",") {
		w := T(strings.TrimSpace(word))
		if !slices.Contains(s.among, w) {
			return errors.New(s.want())
		}
		if !slices.Contains(read, w) {
			read = append(read, w)
		}
	}
	*s.values = read
	return nil
}

// String writes the value as Set reads it.
func (s some[T]) String() string {
	if s.values == nil { // the zero value, which the parser asks
		return ""
	}
	return joinWords(*s.values, ",")
}

// Type is the word for the value in the command's help.
func (s some[T]) Type() string { return "names" }
func (s some[T]) want() string {
	return "some of " + joinWords(s.among, ",") + ", separated by commas"
}

// joinWords writes words with a separator between them.
func joinWords[T ~string](words []T, separator string) string {
	var text strings.Builder
	for i, w := range words {
		if i > 0 {
			text.WriteString(separator)
		}
		text.WriteString(string(w))
	}
	return text.String()
}
