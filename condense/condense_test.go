package condense_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// tuned is a method that is registered as a pointer and whose defaults differ from its zero value.
type tuned struct {
	Hops  int     `json:"hops"`
	Share float64 `json:"share"`
	Seed  uint64  `json:"seed"`

	Weights []float64          `json:"weights,omitempty"`
	Classes map[string]float64 `json:"classes,omitempty"`
}

func (*tuned) Name() string { return "tuned" }

func (*tuned) Condense(context.Context, *graph.Graph, int, uint64) (*condense.Condensed, error) {
	return nil, errors.New("not now")
}

var prototype = defaults(2, 0.5)

func defaults(hops int, share float64) *tuned {
	return &tuned{Hops: hops, Share: share, Weights: []float64{1, 2}, Classes: map[string]float64{"a": 1}}
}

func init() { condense.Register(prototype) }

func TestNew(t *testing.T) {
	if !slices.Contains(condense.Names(), "tuned") {
		t.Errorf("names %v", condense.Names())
	}
	for _, c := range []struct {
		parameters string
		want       *tuned
	}{
		{"", defaults(2, 0.5)},
		{"{}", defaults(2, 0.5)},
		{`{"hops": 0}`, defaults(0, 0.5)},
		{`{"share": 0.25, "hops": 3}`, defaults(3, 0.25)},
	} {
		m := mattest.Must(condense.New("tuned", json.RawMessage(c.parameters)))
		mattest.Equal(t, m.(*tuned), c.want, "parameters %q give", c.parameters)
	}
	for _, parameters := range []string{"", `{"weights": [3], "classes": {"a": 3, "b": 4}}`} {
		m := mattest.Must(condense.New("tuned", json.RawMessage(parameters))).(*tuned)
		m.Hops, m.Weights[0], m.Classes["c"] = 9, 9, 9 // m belongs to the caller
	}
	if want := defaults(2, 0.5); !reflect.DeepEqual(prototype, want) {
		t.Errorf("the registered value is %+v now, want %+v", prototype, want)
	}
	for parameters, want := range map[string]string{
		`{"hop": 1}`:     `unknown field "hop"`,
		`{"hops": "x"}`:  "cannot unmarshal",
		`{"hops": 1} {}`: "more than one JSON object",
		`{"hops": 1`:     "unexpected EOF",
	} {
		mattest.Fails(t, "parameters of tuned: ", want)(condense.New("tuned", json.RawMessage(parameters)))
	}
	mattest.Fails(t, "toned", "tuned")(condense.New("toned", nil))
}

func TestRegisterTwice(t *testing.T) {
	mattest.Panics(t, "registering a name twice", func() { condense.Register(&tuned{}) })
}

// If the parameters lack method, nodes or seed, Configuration puts these keys first. Existing keys keep their places.
func TestConfiguration(t *testing.T) {
	config, err := condense.Configuration(&tuned{Hops: 1, Share: 0.25, Seed: 9}, 12, 9)
	if want := `{"method":"tuned","nodes":12,"hops":1,"share":0.25,"seed":9}`; err != nil || string(config) != want {
		t.Errorf("%s, error %v, want %s", config, err, want)
	}
	mattest.Fails(t, "parameters of list")(condense.Configuration(list{}, 1, 1))
}

// list is a method whose JSON is not an object.
type list struct{ tuned }

func (list) Name() string                 { return "list" }
func (list) MarshalJSON() ([]byte, error) { return []byte("[]"), nil }
func (list) Condense(context.Context, *graph.Graph, int, uint64) (*condense.Condensed, error) {
	return nil, nil
}

func TestCondensedSays(t *testing.T) {
	c := whole(t)
	if c.Nodes() != 12 || c.Edges() != 9 {
		t.Errorf("%d nodes and %d edges, want 12 and 9", c.Nodes(), c.Edges())
	}
	mattest.Equal(t, condense.CountBudget(c.Y, 4), []int{5, 4, 3, 0}, "budget")
	c.Adj = nil
	h := new(mat.Dense)
	if err := c.Operator().Apply(t.Context(), h, c.X); err != nil || !slices.Equal(h.Data, c.X.Data) || c.Edges() != 0 {
		t.Errorf("%d edges, error %v; without edges, Â′ must be the identity", c.Edges(), err)
	}
}
