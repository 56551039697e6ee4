// Package known identifies public graphs by the fingerprints of their content.
package known

import "fmt"

// Graph is a public graph with the fingerprint of its content.
type Graph struct {
	// Name is the name of the data set.
	Name string
	// Fingerprint is the fingerprint by graph.Identify.
	Fingerprint string
	// Variant says how the graph differs from the data set. It is empty for the data set itself.
	Variant string
}

// Graphs returns the public graphs with a known fingerprint. The fingerprints were computed from the files that the
// authors publish. The data sets flickr, reddit and products, and arxiv with OGB's features, are not among the graphs.
func Graphs() []Graph {
	return []Graph{
		{Name: "cora", Fingerprint: "44ff285387fc1692cccf7ce78355b0f0"},
		{Name: "citeseer", Fingerprint: "5593d3fee7363eaf4dc4483d6ad55784"},
		{Name: "arxiv", Fingerprint: "996d24e97b145d84ccf52920b1c7f8d2",
			Variant: "200 features that rank categories by title and abstract, and not OGB's 128"},
		{Name: "amazon-photo", Fingerprint: "98d68369587492df5878ce3fe9107624", Variant: "a split drawn with seed 0"},
	}
}

// Verdict reports whether a graph is the data set that it is named after.
type Verdict int

const (
	// Unverified: no fingerprint of the data set is known.
	Unverified Verdict = iota
	// Genuine: the graph is the data set.
	Genuine
	// Variant: the graph is known to differ from the data set.
	Variant
	// Other: the fingerprint differs from the fingerprint of the data set.
	Other
)

// Verify compares the fingerprint of a graph (graph.Identify) with the fingerprint of the data set called name. why
// explains why the graph is not, or may not be, the data set. It is empty if the verdict is Genuine.
func Verify(name, fingerprint string) (v Verdict, why string) {
	v, why = Unverified, fmt.Sprintf("not verified: no fingerprint of the public %s is known, and this graph has %s",
		name, fingerprint)
	for _, k := range Graphs() {
		switch {
		case k.Name != name:
		case k.Fingerprint == fingerprint && k.Variant == "":
			return Genuine, ""
		case k.Fingerprint == fingerprint:
			return Variant, fmt.Sprintf("a variant of the public %s: %s", name, k.Variant)
		case k.Variant == "":
			v, why = Other, fmt.Sprintf("not the public %s: its fingerprint is %s, and that of the data set %s",
				name, fingerprint, k.Fingerprint)
		}
	}
	return v, why
}
