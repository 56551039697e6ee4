package dataset_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/known"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
)

func TestVerify(t *testing.T) {
	cora := known.Graphs()[0].Fingerprint
	for _, c := range []struct {
		name, fingerprint string
		want              known.Verdict
		why               string
	}{
		{"cora", cora, known.Genuine, ""},
		{"cora", "c0ffee", known.Other, "its fingerprint is c0ffee"},
		{"citeseer", cora, known.Other, "not the public citeseer"},
		{"arxiv", known.Graphs()[2].Fingerprint, known.Variant, "200 features"},
		{"arxiv", "c0ffee", known.Unverified, "not verified"},
		{"flickr", "c0ffee", known.Unverified, "not verified"},
	} {
		got, why := known.Verify(c.name, c.fingerprint)
		if got != c.want || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s %s: %v, %q; want %v, %q", c.name, c.fingerprint, got, why, c.want, c.why)
		}
	}
}

// TestKnownGraphs checks that the fingerprints in the table equal the fingerprints of the real files.
func TestKnownGraphs(t *testing.T) {
	for _, k := range known.Graphs() {
		t.Run(k.Name, func(t *testing.T) {
			id, err := graph.Identify(realGraph(t, k.Name))
			if err != nil || id.Fingerprint != k.Fingerprint {
				t.Errorf("%s has the fingerprint %s, want %s (%v)", k.Name, id.Fingerprint, k.Fingerprint, err)
			}
		})
	}
}

// TestClassNames checks that the names of classes are in the order of the files: each class has as many nodes as the
// authors of the data sets publish for it (Sen et al. 2008).
func TestClassNames(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"cora": {"Case_Based": 298, "Genetic_Algorithms": 418, "Neural_Networks": 818, "Probabilistic_Methods": 426,
			"Reinforcement_Learning": 217, "Rule_Learning": 180, "Theory": 351},
		"citeseer": {"Agents": 596, "AI": 249, "DB": 701, "IR": 668, "ML": 590, "HCI": 508},
	} {
		t.Run(name, func(t *testing.T) {
			g := realGraph(t, name)
			for c, count := range g.Counts(memory.Range(0, g.Nodes())) {
				if g.ClassNames == nil || want[g.ClassNames[c]] != count {
					t.Errorf("class %d of %q has %d nodes, want %v", c, g.ClassNames, count, want)
				}
			}
		})
	}
}

// TestMadeGraphsDoNotPass checks that a synthetic graph of full size keeps its name, and is not mistaken for the data
// set.
func TestMadeGraphsDoNotPass(t *testing.T) {
	dir := t.TempDir()
	mattest.OK(t, dataset.Write(t.Context(), filepath.Join(dir, "cora.safetensors"), fixture.Made(t, "cora", 1)))
	g := mattest.Must(dataset.Options{Search: []string{dir}}.Open(t.Context(), "cora"))
	id, err := graph.Identify(g)
	if verdict, _ := known.Verify("cora", id.Fingerprint); err != nil || g.Name != "made-cora" ||
		verdict != known.Other {
		t.Errorf("a synthetic graph is opened as %s, with the verdict %v (%v)", g.Name, verdict, err)
	}
}
