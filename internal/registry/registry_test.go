package registry_test

import (
	"errors"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/registry"
)

func TestRegistry(t *testing.T) {
	r := registry.New[int]("model").With("gcn", 1).With("a-2", 2)
	if v, err := r.Find("GCN"); v != 1 || err != nil {
		t.Errorf("Find(GCN) is %d, %v", v, err)
	}
	names := r.Names()
	names[0] = "changed"
	mattest.Equal(t, r.Names(), []string{"gcn", "a-2"}, "names")
	for name, want := range map[string]string{
		"gin": `model "gin", must be one of gcn, a-2; did you mean gcn?`,
		"mlp": `model "mlp", must be one of gcn, a-2`,
	} {
		_, err := r.Find(name)
		if !errors.As(err, new(*registry.Unknown)) || err.Error() != want {
			t.Errorf("Find(%s): %v", name, err)
		}
	}
	for _, name := range []string{"", "gcn", "Upper", "a b", "é"} {
		mattest.Panics(t, "registering "+name, func() { r.Register(name, 3) })
	}
}
