package condense

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/graph"
)

// Source identifies the original graph of a condensed graph, and its split. Files contain its JSON in the metadata.
type Source struct {
	graph.Digest
	// Unlabelled is the number of source nodes (distinct nodes in Members) outside the training split. The method does not
	// use their labels: they are pseudo-labelled, for example, or merged by a coarsening.
	Unlabelled int `json:"unlabelled_members,omitempty"`
}

// TakeSource sets c.Source, and copies the names of g's classes and features, and of the source nodes. g is the graph
// that c was condensed from, before any scaling of features, and with all nodes in the inductive setting. Members refer
// to g. Errors in reading features are returned.
func (c *Condensed) TakeSource(g *graph.Graph) error {
	d, err := graph.DigestOf(g)
	if err != nil {
		return err
	}
	c.SetSource(d, g)
	return nil
}

// SetSource is like TakeSource, for a caller that knows the digest of g.
func (c *Condensed) SetSource(d graph.Digest, g *graph.Graph) {
	c.Source = &Source{Digest: d}
	members := c.sourceNodes()
	c.Source.Unlabelled = len(members) - countIf(g.Split.Train, among(members))
	c.ClassNames, c.FeatureNames, c.MemberIDs = slices.Clone(g.ClassNames), slices.Clone(g.FeatureNames), nil
	if g.IDs == nil || c.Members == nil {
		return
	}
	c.MemberIDs = make([]string, len(c.Members.Indices))
	for e, v := range c.Members.Indices {
		c.MemberIDs[e] = g.IDs[v]
	}
}

// sourceNodes returns the distinct nodes in Members, ascending.
func (c *Condensed) sourceNodes() []int32 {
	if c.Members == nil {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(c.Members.Indices)))
}

// among reports whether a node is in an ascending list.
func among(list []int32) func(v int32) bool {
	return func(v int32) bool {
		_, is := slices.BinarySearch(list, v)
		return is
	}
}

func countIf(nodes []int32, is func(v int32) bool) (n int) {
	for _, v := range nodes {
		if is(v) {
			n++
		}
	}
	return n
}

// Target compares the graph that models are tested on with the original graph of a condensed graph.
type Target struct {
	// Graph is the name of the graph that models are tested on.
	Graph string `json:"-"`
	// Known says that the condensed graph has a Source. Without one, only sizes, class names and members are compared.
	Known bool `json:"-"`
	// Differs lists what differs, such as "edges" or "test nodes"; empty if nothing does.
	Differs []string `json:"differs"`
	// SourceNodes is the number of nodes that the condensed graph was made from, and InTest is the number of test nodes
	// among them. Both are 0 if the method keeps no source nodes, or if the two graphs have different nodes.
	SourceNodes int `json:"source_nodes"`
	InTest      int `json:"source_nodes_in_test"`
	// Unlabelled is the number of source nodes that were used without their labels.
	Unlabelled int `json:"source_nodes_unlabelled,omitempty"`
	// UnknownClasses names the classes of the graph's nodes that the condensed graph lacks, if any.
	UnknownClasses []string `json:"unknown_classes,omitempty"`
}

// A TargetError says that models would be tested on a graph or split other than the one that was condensed. The test
// nodes may then include source nodes of the condensed graph.
type TargetError struct{ Target Target }

// Error returns Target.Reason.
func (e *TargetError) Error() string { return e.Target.Reason() }

// CheckTarget compares g and its split with the graph that c was made from. Names, formats and the storage of features
// do not matter. Classes and features are compared by name if both have names. Validation or test nodes are compared
// only if both splits have some: without a test split, a method cannot have seen any test node. A graph that lacks a
// feature of c is an error, and so is a failure to read features; Target.Err says whether g may be tested on.
//
// Without a Source, c certainly belongs to another split if its source nodes include test nodes of g but lack some of
// its training nodes: a method that uses nodes without labels uses all training nodes.
func (c *Condensed) CheckTarget(g *graph.Graph) (Target, error) {
	if err := c.Validate(); err != nil {
		return Target{}, fmt.Errorf("the condensed graph is not valid: %w", err)
	}
	t := Target{Graph: g.Name, Known: c.Source != nil}
	train := t.countMembers(c, g)
	known, unknown, err := c.Matched(g)
	if err != nil {
		return Target{}, err
	}
	t.UnknownClasses = unknown
	differ := func(what string, was, is int) {
		if was != is {
			t.Differs = append(t.Differs, fmt.Sprintf("%s (%d instead of %d)", what, is, was))
		}
	}
	if c.GraphNodes > 0 {
		differ("nodes", c.GraphNodes, g.Nodes())
	}
	differ("features", c.X.Cols, known.Features())
	differ("classes", c.Classes, g.Classes)
	if unknown != nil && c.Classes == g.Classes {
		t.Differs = append(t.Differs, "classes")
	}
	if c.Source == nil {
		if t.InTest > 0 && train < t.SourceNodes && train < len(g.Split.Train) {
			t.Differs = append(t.Differs, "training nodes")
		}
		return t, nil
	}
	t.Unlabelled = c.Source.Unlabelled
	was := c.Source.Digest
	named := *known
	named.Split = g.Split // also the nodes of unknown classes
	is, err := graph.DigestOf(&named)
	if err != nil {
		return Target{}, err
	}
	sized := len(t.Differs) > 0
	differ("edges", was.Edges, is.Edges)
	part := func(what, was, is string) {
		if was != is {
			t.Differs = append(t.Differs, what)
		}
	}
	if !sized {
		if was.Edges == is.Edges {
			part("edges", was.Adjacency, is.Adjacency)
		}
		part("features", was.X, is.X)
	}
	part("training nodes", was.Train, is.Train)
	if was.Train == is.Train {
		part("training labels", was.Labels, is.Labels)
	}
	if was.ValNodes > 0 && is.ValNodes > 0 {
		part("validation nodes", was.Val, is.Val)
	}
	if was.TestNodes > 0 && is.TestNodes > 0 {
		part("test nodes", was.Test, is.Test)
	}
	return t, nil
}

// countMembers sets SourceNodes and InTest, and returns how many source nodes are training nodes of g. Nodes are
// compared by name if both graphs have names. Otherwise they are compared by number, if both graphs have equally many
// nodes.
func (t *Target) countMembers(c *Condensed, g *graph.Graph) (train int) {
	var is func(v int32) bool // whether a node of g is a source node
	switch {
	case c.MemberIDs != nil && g.IDs != nil:
		names := make(map[string]bool, len(c.MemberIDs))
		for _, id := range c.MemberIDs {
			names[id] = true
		}
		t.SourceNodes, is = len(names), func(v int32) bool { return names[g.IDs[v]] }
	case c.GraphNodes == g.Nodes():
		members := c.sourceNodes()
		t.SourceNodes, is = len(members), among(members)
	default:
		return 0
	}
	t.InTest = countIf(g.Split.Test, is)
	return countIf(g.Split.Train, is)
}

// Err returns a *TargetError if the graph or its split differs from the original, else nil.
func (t Target) Err() error {
	if len(t.Differs) == 0 {
		return nil
	}
	return &TargetError{t}
}

// Reason says what differs in the graph or its split, and how many source nodes are test nodes. It is empty if nothing
// differs.
func (t Target) Reason() string {
	if len(t.Differs) == 0 {
		return ""
	}
	split := true
	for _, what := range t.Differs {
		split = split && strings.HasSuffix(what, " nodes")
	}
	other := "another graph than " + t.Graph
	if split {
		other = "another split of " + t.Graph
	}
	text := fmt.Sprintf("the condensed graph was made from %s: %s differ%s", other, enumerated(t.Differs), t.counts("; "))
	if t.UnknownClasses != nil {
		text += fmt.Sprintf("; it has no class %s, and nodes of such a class are not tested", enumerated(t.UnknownClasses))
	}
	return text
}

// Note says what cannot be checked because the condensed graph has no Source. It is empty if there is one.
func (t Target) Note() string {
	if t.Known {
		return ""
	}
	return fmt.Sprintf("the condensed graph does not say which graph it was made from (another program or an older "+
		"version of cgc wrote it), so nothing shows that it is %s with this split%s", t.Graph, t.counts("; "))
}

// counts says how many source nodes are test nodes. It is empty if this is unknown.
func (t Target) counts(before string) string {
	if t.SourceNodes == 0 {
		return ""
	}
	text := fmt.Sprintf("%s%d of the %d nodes it was made from are test nodes of %s",
		before, t.InTest, t.SourceNodes, t.Graph)
	if t.Unlabelled > 0 {
		text += fmt.Sprintf(" (%d of the %d were used without their labels)", t.Unlabelled, t.SourceNodes)
	}
	return text
}

// enumerated lists words, with "and" before the last.
func enumerated(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// sourceOf returns the Source in the metadata of a file, or nil if there is none.
func sourceOf(meta map[string]string) (*Source, error) {
	text, has := meta[sourceKey]
	if !has {
		return nil, nil
	}
	source := new(Source)
	if err := json.Unmarshal([]byte(text), source); err != nil {
		return nil, fmt.Errorf("%s in the metadata: %w", sourceKey, err)
	}
	return source, nil
}

// sourceKey is the key of Condensed.Source in the metadata of a file.
const sourceKey = "source"
