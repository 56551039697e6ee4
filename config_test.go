package cgc_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

func TestMistakesAreAllNamed(t *testing.T) {
	g, _ := smallGraph(100, 8, 3, false, false, rand.New(rand.NewPCG(27, 0)))
	for want, change := range map[string]func(*cgc.Config){
		`method "cgx", must be one of [cgc cgc-x simdm]`:                func(c *cgc.Config) { c.Variant = "cgx" },
		`partition "", must be one of`:                                  func(c *cgc.Config) { c.Partition = "" },
		"2 of nodes, ratio and label ratio given, must be exactly one":  func(c *cgc.Config) { c.Ratio = 0.5 },
		"0 of nodes, ratio and label ratio given":                       func(c *cgc.Config) { c.Nodes = 0 },
		"nodes 2, must be from 3 (the classes with training nodes) to":  func(c *cgc.Config) { c.Nodes = 2 },
		"nodes 51, must be from 3 (the classes with training nodes) to": func(c *cgc.Config) { c.Nodes = 51 },
		"ratio 0.001 of 100 nodes: nodes 0, must be from 3":             func(c *cgc.Config) { c.Nodes, c.Ratio = 0, 0.001 },
		"ratio 0.01 of 50 training nodes: nodes 1, must be from 3": func(c *cgc.Config) {
			c.Nodes, c.Ratio, c.Inductive = 0, 0.01, true
		},
		"ratio 1.5, must be above 0 and at most 1":   func(c *cgc.Config) { c.Nodes, c.Ratio = 0, 1.5 },
		"precision 9, must be one of [float32 half]": func(c *cgc.Config) { c.Precision = 9 },
		"precision half, must be float32 with the engine propagate.Plain, which decides by itself": func(c *cgc.Config) {
			c.Precision, c.Engine = blocked.Half, propagate.Plain{}
		},
		"precision half, must be float32 with the engine blocked.Engine": func(c *cgc.Config) {
			c.Precision, c.Engine = blocked.Half, blocked.Engine{}
		},
		// two mistakes at once
		"hops 1001, must be at most 1000\ntemperature 0": func(c *cgc.Config) { c.Hops, c.Temperature = 1001, 0 },
		"hops -1, must be at least 0\ntemperature 0, must be above 0": func(c *cgc.Config) {
			c.Hops, c.Temperature = -1, 0
		},
		"threshold NaN, must be -1 to 1\nalpha NaN": func(c *cgc.Config) {
			c.Alpha, c.Threshold = math.NaN(), math.NaN()
		},
	} {
		mattest.Fails(t, want)(cgc.Condense(t.Context(), g, configured(10, change)))
	}

	empty, missing := *g, *g
	empty.Split.Train = nil
	missing.Split.Train = slices.DeleteFunc(slices.Clone(g.Split.Train), func(v int32) bool { return g.Y[v] == 1 })
	for want, other := range map[string]*graph.Graph{
		"graph small has 0 training nodes":            &empty,
		"class 1 of graph small has 0 training nodes": &missing,
	} {
		mattest.Fails(t, want)(cgc.Condense(t.Context(), other, configured(10, nil)))
		config, _ := cgc.DefaultsFor(other)
		mattest.Fails(t, want)(cgc.Condense(t.Context(), other, config))
	}
}

func TestConfigSurvivesJSON(t *testing.T) {
	for _, temperature := range []cgc.Temperature{cgc.Infinite, 0.01, 1} {
		want := configured(10, func(c *cgc.Config) {
			c.Temperature, c.Partition = temperature, "random"
			if temperature == 1 {
				c.Precision = blocked.Half
			}
		})
		text := mattest.Must(json.Marshal(want))
		var got cgc.Config
		mattest.OK(t, json.Unmarshal(text, &got))
		mattest.Equal(t, got, want, "%s read back as", text)
	}
	for _, bad := range []string{"0", "-1", "nan", "x", ""} {
		if _, err := cgc.ParseTemperature(bad); err == nil {
			t.Errorf("temperature %q is accepted", bad)
		}
	}
}

// The configuration and the account of each variant are unchanged after saving and loading. TestContract compares
// everything else.
func TestSaveAndLoad(t *testing.T) {
	g, _ := smallGraph(100, 8, 3, false, false, rand.New(rand.NewPCG(30, 0)))
	for _, variant := range cgc.Variants() {
		config := configured(12, func(c *cgc.Config) {
			c.Variant, c.Threshold, c.Standardize = variant, 0.3, variant == cgc.CGCX
		})
		want := mustCondense(t, g, config)
		path := filepath.Join(t.TempDir(), "small.safetensors")
		mattest.OK(t, want.Save(t.Context(), path))
		got := mattest.Must(cgc.Load(path))
		if c, err := cgc.ConfigOf(got); err != nil || !reflect.DeepEqual(c, config) {
			t.Errorf("%s: configuration %+v, error %v, want %+v", variant, c, err, config)
		}
		if !reflect.DeepEqual(accountOf(t, got), accountOf(t, want)) {
			t.Errorf("%s: account %s, want %s", variant, got.Account, want.Account)
		}
	}
}

// tiny returns a graph with the given numbers of classes and of training nodes.
func tiny(t *testing.T, classes, train int) *graph.Graph {
	t.Helper()
	g, err := synth.Make(t.Context(), synth.Shape{
		Name: "tiny", Nodes: 400, Edges: 900, Features: 8, Classes: classes, Train: train, Val: 30, Test: 30,
		Groups: 1, Homophily: 0.8, Signal: 2, Balanced: true,
	}, rand.NewPCG(1, 1))
	mattest.OK(t, err)
	return g
}

func TestDefaultsForSizes(t *testing.T) {
	for _, c := range []struct {
		train, nodes int
		why          string
	}{
		{300, 30, "30 condensed nodes, 10 for each of 3 classes"},
		{60, 30, "30 condensed nodes, 10 for each of 3 classes"},
		{45, 22, "22 condensed nodes, half of the 45 training nodes"},
		{6, 3, "3 condensed nodes, one for each class"},
		{3, 3, "3 condensed nodes, one for each class"},
	} {
		g := tiny(t, 3, c.train)
		config, reasons := cgc.DefaultsFor(g)
		if config.Nodes != c.nodes || len(reasons) != 1 || reasons[0].Name != "nodes" || reasons[0].Text != c.why {
			t.Errorf("%d training nodes: %d nodes, %v, want %d, %q", c.train, config.Nodes, reasons, c.nodes, c.why)
		}
		if _, err := config.NodesFor(g); err != nil {
			t.Errorf("%d training nodes: %v", c.train, err)
		}
	}
}

// Only labels of training nodes are read. A class without training nodes does not count.
func TestDefaultsForTrainingLabelsAlone(t *testing.T) {
	g := tiny(t, 4, 200)
	want, _ := cgc.DefaultsFor(g)
	blind := *g
	blind.Y = make([]int32, len(g.Y))
	for i := range blind.Y {
		blind.Y[i] = graph.Unlabelled
	}
	blind.Split.Train = nil
	for _, i := range g.Split.Train {
		if blind.Y[i] = g.Y[i]; g.Y[i] > 0 {
			blind.Split.Train = append(blind.Split.Train, i)
		}
	}
	got, reasons := cgc.DefaultsFor(&blind)
	if got.Nodes != 30 || want.Nodes != 40 || !strings.Contains(reasons[0].Text, "3 classes") {
		t.Errorf("%d nodes (%v) with three of four classes, %d with four, want 30 and 40", got.Nodes, reasons, want.Nodes)
	}
	if got.Hops != want.Hops || got.Variant != want.Variant {
		t.Errorf("%+v, want %+v but for the size", got, want)
	}
}
