package gnn_test

import (
	"reflect"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestParameters checks the canonical names of variants, and that parsing a canonical name gives the same name.
func TestParameters(t *testing.T) {
	for text, want := range map[string]string{
		"gcn:layers=2": "gcn", "GCN:Layers=3": "gcn:layers=3", "gcn:layers=3.0": "gcn:layers=3",
		"sgc:hops=1e1":            "sgc:hops=10",
		"appnp:alpha=0.20:hops=5": "appnp:hops=5:alpha=0.2", "appnp:alpha=-0": "appnp:alpha=0",
		"appnp:hops=10:alpha=.1": "appnp", "cheby:order=3:layers=1": "cheby:layers=1:order=3", "gat:heads=8": "gat",
		"sage:layers=1": "sage:layers=1",
	} {
		m := mattest.Must(gnn.Parse(text))
		if again := mattest.Must(gnn.Parse(m.Name())); m.Name() != want || !reflect.DeepEqual(again, m) {
			t.Errorf("%s is named %s and read again as %s, want %s", text, m.Name(), again.Name(), want)
		}
	}
	for text, want := range map[string]string{
		"gcn:layers=9": "layers of gcn is 9, must be an integer from 1 to 8", "sgc:hops=0": "hops of sgc is 0, must be",
		"gcn:layers=2.5":         "layers of gcn is 2.5, must be an integer from 1 to 8",
		"appnp:alpha=NaN":        "alpha of appnp is nan, must be a number from 0 to 1",
		"gat:heads=":             "heads of gat has no value",
		"gat:heads":              "heads of gat has no value, must be as in heads=8",
		"gcn:":                   `parameter of gcn "", must be one of layers`,
		"gcn:order=3":            `parameter of gcn "order", must be one of layers`,
		"cheby:layer=3":          `parameter of cheby "layer", must be one of layers, order; did you mean layers?`,
		"sage:layers=3:layers=3": "layers of sage is set twice, must be set once",
		"gcnn:layers=3":          `model "gcnn", must be one of`,
	} {
		mattest.Fails(t, want)(gnn.Parse(text))
	}
	name, parameters := gnn.Structure(mattest.Must(gnn.Parse("appnp:hops=5")))
	if want := map[string]float64{"hops": 5, "alpha": 0.1}; name != "appnp" || !reflect.DeepEqual(parameters, want) {
		t.Errorf("%s with %v, want appnp with %v", name, parameters, want)
	}
	if name, parameters := gnn.Structure(mlp{}); name != "mlp" || len(parameters) != 0 {
		t.Errorf("a model of another package is %s with %v", name, parameters)
	}
}
