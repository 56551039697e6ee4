package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/internal/content"
)

// Possible names of the columns of a split, in any case. Package content has the names of the other columns.
var (
	splitNames = []string{"split", "part"}
	maskNames  = [3][]string{{"train_mask"}, {"val_mask", "valid_mask"}, {"test_mask"}} // booleans in place of a split
)

// Missing returns an error if a column is missing. places holds the index of each column in header, −1 for a missing
// one. names holds its possible names, the usual one first. The error lists the columns of header, and adds a hint if
// the separator seems wrong, or if the first column has no name and may be the missing one.
func Missing(header []string, names [][]string, places ...int) error {
	var missing, others []string
	for i, may := range names {
		if places[i] >= 0 {
			continue
		}
		missing = append(missing, may[0])
		if len(may) > 1 {
			others = append(others, fmt.Sprintf("%s may also be called %s", may[0], strings.Join(may[1:], " or ")))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	hint := strings.Join(others, ", ")
	if hint != "" {
		hint = " (" + hint + ")"
	}
	switch {
	case len(header) == 1 && strings.ContainsAny(header[0], "|: "):
		hint += "; fields must be separated by commas, semicolons or tabs"
	case header[0] == "" && slices.Contains(missing, content.IDNames[0]):
		hint += "; if the first column, which has no name, holds the ids, call it id"
	}
	return fmt.Errorf("there is no column %s, the columns are %.200q%s",
		strings.Join(missing, " and no column "), strings.Join(header, ","), hint)
}

// columns holds the indices of the columns of a table of nodes, −1 for a missing column.
type columns struct {
	id, label, split int
	masks            [3]int
	features         []int // all other columns, except an index
	index            []int // see content.IsIndex
}

// findColumns finds the columns in the header of t. The column of labels may be missing unless labelled is set.
func findColumns(t Table, labelled bool) (c columns, err error) {
	header := t.Header()
	c = columns{
		id: content.Column(header, content.IDNames), label: content.Column(header, content.LabelNames),
		split: content.Column(header, splitNames),
	}
	needed, places := [][]string{content.IDNames}, []int{c.id}
	if labelled {
		needed, places = append(needed, content.LabelNames), append(places, c.label)
	}
	if err := Missing(header, needed, places...); err != nil {
		return c, t.Fail(-1, err)
	}
	for k, names := range maskNames {
		c.masks[k] = content.Column(header, names)
		if c.masks[k] >= 0 && c.split >= 0 {
			return c, t.Fail(-1, fmt.Errorf("there are the columns %s and %s, must be one of them: leave out the other",
				header[c.split], header[c.masks[k]]))
		}
	}
	for i := range header {
		switch {
		case i == c.id || i == c.label || i == c.split || slices.Contains(c.masks[:], i):
		case content.IsIndex(header, i):
			c.index = append(c.index, i)
		default:
			c.features = append(c.features, i)
		}
	}
	return c, nil
}

// withFeatures is findColumns for a table that must have features.
func withFeatures(t Table, labelled bool) (columns, error) {
	c, err := findColumns(t, labelled)
	if err == nil && len(c.features) == 0 {
		err = t.Fail(-1, errors.New("no column of features besides id, label and split, must have at least one"))
	}
	return c, err
}

// parted reports whether there is a split.
func (c *columns) parted() bool { return max(c.split, c.masks[0], c.masks[1], c.masks[2]) >= 0 }

// indexNotes returns a sentence for each index column that is left out.
func (c *columns) indexNotes(t Table) (notes []string) {
	for _, i := range c.index {
		what := fmt.Sprintf("the column %q", t.Header()[i])
		if t.Header()[i] == "" {
			what = "the first column, which has no name,"
		}
		notes = append(notes, fmt.Sprintf("%s: %s is left out of the features, because it looks like an index that pandas "+
			"wrote: rename it to keep it", t.File(), what))
	}
	return notes
}

// repeatNotes returns a sentence for each feature whose name suggests that it holds the id, the label or the split.
func (c *columns) repeatNotes(t Table) (notes []string) {
	note := func(text string, args ...any) { notes = append(notes, t.File()+": "+fmt.Sprintf(text, args...)) }
	for _, i := range c.features {
		name := t.Header()[i]
		switch what := content.Repeats(name); {
		case what == "id":
			note("the id is in column %s, and column %s is a feature: leave it out if it holds the id too",
				t.Header()[c.id], name)
		case what == "label" && c.label >= 0:
			note("the label is in column %s, and column %s is a feature: leave it out if it holds the label too",
				t.Header()[c.label], name)
		case what == "split" && !c.parted():
			note("there is no split, and column %s is a feature: if it holds the split, leave it out or rename it (split; or "+
				"train_mask, val_mask and test_mask)", name)
		}
	}
	return notes
}

// findEnds finds the columns of a table of edges. Other columns are not read, and a note lists them.
func findEnds(t Table) (e ends, notes []string, err error) {
	header := t.Header()
	e = ends{
		source: content.Column(header, content.SourceNames), target: content.Column(header, content.TargetNames),
		weight: content.Column(header, content.WeightNames),
	}
	if err := Missing(header, [][]string{content.SourceNames, content.TargetNames}, e.source, e.target); err != nil {
		return e, nil, t.Fail(-1, err)
	}
	if note := content.Unread(t.File(), header, e.source, e.target, e.weight); note != "" {
		if e.weight < 0 {
			note += " (edge weights must be in a column called weight)"
		}
		notes = []string{note}
	}
	return e, notes, nil
}
