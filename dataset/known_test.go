package dataset_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/internal/fixture"
	"github.com/graph-condensation/cgc/graph"
)

func TestVerify(t *testing.T) {
	cora := dataset.KnownGraphs()[0].Fingerprint
	for _, c := range []struct {
		name, fingerprint string
		want              dataset.Verdict
		why               string
	}{
		{"cora", cora, dataset.Genuine, ""},
		{"cora", "c0ffee", dataset.Other, "its fingerprint is c0ffee"},
		{"citeseer", cora, dataset.Other, "not the public citeseer"},
		{"arxiv", dataset.KnownGraphs()[2].Fingerprint, dataset.Variant, "200 features"},
		{"arxiv", "c0ffee", dataset.Unverified, "not verified"},
		{"flickr", "c0ffee", dataset.Unverified, "not verified"},
	} {
		got, why := dataset.Verify(c.name, c.fingerprint)
		if got != c.want || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s %s: %v, %q; want %v, %q", c.name, c.fingerprint, got, why, c.want, c.why)
		}
	}
}

// The fingerprints of the table are those of the real files.
func TestKnownGraphs(t *testing.T) {
	for _, k := range dataset.KnownGraphs() {
		g, err := realData(t).Open(t.Context(), k.Name)
		if err != nil {
			t.Logf("%s is not here: %v", k.Name, err)
			continue
		}
		id, err := graph.Identify(g)
		if err != nil || id.Fingerprint != k.Fingerprint {
			t.Errorf("%s has the fingerprint %s, want %s (%v)", k.Name, id.Fingerprint, k.Fingerprint, err)
		}
	}
}

// A made graph of full size in a folder that is searched keeps its name, and is not taken for the data set.
func TestMadeGraphsDoNotPass(t *testing.T) {
	dir := t.TempDir()
	if err := dataset.Write(t.Context(), filepath.Join(dir, "cora.safetensors"), fixture.Made(t, "cora", 1)); err != nil {
		t.Fatal(err)
	}
	g, err := dataset.Options{Search: []string{dir}}.Open(t.Context(), "cora")
	if err != nil {
		t.Fatal(err)
	}
	id, err := graph.Identify(g)
	if verdict, _ := dataset.Verify("cora", id.Fingerprint); err != nil || g.Name != "made-cora" ||
		verdict != dataset.Other {
		t.Errorf("a made graph is opened as %s, with the verdict %v (%v)", g.Name, verdict, err)
	}
}
