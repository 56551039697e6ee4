package propagate_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// fromFile is a user-defined engine that reads embeddings written by another program. The file contains H⁽⁰⁾ … H⁽ᴷ⁾ of
// all n nodes, one after the other, as little-endian float32. It serves the features x, and passes other features to
// another engine.
type fromFile struct {
	path string
	x    mat.Matrix
	rest propagate.Engine
}

func (f fromFile) Embeddings(ctx context.Context, p propagate.Propagation, in propagate.Input) ([]mat.View, error) {
	if in.X != f.x {
		return f.rest.Embeddings(ctx, p, in)
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	n, d := in.X.Dims()
	h := make([]mat.View, p.Hops+1)
	row := make([]byte, 4*d)
	for l := range h {
		hop := mat.NewDense(len(in.Rows), d)
		for i, v := range in.Rows {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if _, err := file.ReadAt(row, int64(4*d)*(int64(l*n)+int64(v))); err != nil {
				return nil, err
			}
			for j := range hop.Row(i) {
				hop.Row(i)[j] = math.Float32frombits(binary.LittleEndian.Uint32(row[4*j:]))
			}
		}
		h[l] = hop.View()
	}
	return h, nil
}

func TestAnEngineThatReadsAFile(t *testing.T) {
	g := synth.Demo()
	p := propagate.Propagation{Rule: propagate.SGC, Hops: 2}
	all := make([]int32, g.Nodes())
	for v := range all {
		all[v] = int32(v)
	}
	var file []byte
	for _, hop := range run(t, propagate.Plain{}, p, propagate.Input{Adj: g.Adj, X: g.X, Rows: all}) {
		for i := range all {
			for _, v := range hop.Row(i) {
				file = binary.LittleEndian.AppendUint32(file, math.Float32bits(v))
			}
		}
	}
	path := filepath.Join(t.TempDir(), "embeddings")
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	engine := fromFile{path, g.X, propagate.Plain{}}
	in := propagate.Input{Adj: g.Adj, X: g.X, Rows: []int32{7, 3, 3}, Classes: []int32{0, 1, 1}}
	wantEqual(t, run(t, engine, p, in), run(t, propagate.Plain{}, p, in))
	in.X = mat.NewDense(g.Nodes(), 2)
	wantEqual(t, run(t, engine, p, in), run(t, propagate.Plain{}, p, in))
}

func run(t *testing.T, engine propagate.Engine, p propagate.Propagation, in propagate.Input) []mat.View {
	t.Helper()
	h, err := propagate.Run(t.Context(), engine, p, in)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func wantEqual(t *testing.T, got, want []mat.View) {
	t.Helper()
	for l := range want {
		if !slices.Equal(got[l].Dense().Data, want[l].Dense().Data) {
			t.Errorf("H(%d) is %v, want %v", l, got[l].Rows(), want[l].Rows())
		}
	}
}

// broken is an engine that violates its contract.
type broken []mat.View

func (b broken) Embeddings(context.Context, propagate.Propagation, propagate.Input) ([]mat.View, error) {
	return b, nil
}

func TestRunNamesWhatIsWrong(t *testing.T) {
	a := &mat.CSR{Rows: 2, Cols: 2, Indptr: []int64{0, 1, 2}, Indices: []int32{1, 0}}
	of := func(rows, columns int) mat.View { return mat.NewDense(rows, columns).View() }
	type change struct {
		p      *propagate.Propagation
		in     *propagate.Input
		engine *propagate.Engine
	}
	for want, spoil := range map[string]func(change){
		`propagation rule "gcn", must be one of sgc, ppr, sage`: func(c change) { c.p.Rule = "gcn" },
		"hops -1, must be at least 0":                           func(c change) { c.p.Hops = -1 },
		"teleport 0, must be above 0 and at most 1":             func(c change) { c.p.Rule = propagate.PPR },
		"adjacency is 2×2 for features of 3 nodes":              func(c change) { c.in.X = mat.NewDense(3, 3) },
		"row 0 is node 2, must be 0 to 1":                       func(c change) { c.in.Rows = []int32{2} },
		"2 classes for 1 rows":                                  func(c change) { c.in.Classes = []int32{0, 1} },
		"class -1 of row 0":                                     func(c change) { c.in.Classes = []int32{-1} },
		"broken delivered 1 embeddings, expected 2":             func(c change) { *c.engine = broken{of(1, 3)} },
		"broken delivered 2×3 for hop 1, expected 1×3":          func(c change) { *c.engine = broken{of(1, 3), of(2, 3)} },
		"broken delivered 1×4 for hop 1, expected 1×3":          func(c change) { *c.engine = broken{of(1, 3), of(1, 4)} },
		"broken delivered 0×0 for hop 0, expected 1×3":          func(c change) { *c.engine = broken{mat.View{}, of(1, 3)} },
	} {
		p := propagate.Propagation{Rule: propagate.SGC, Hops: 1}
		in := propagate.Input{Adj: a, X: mat.NewDense(2, 3), Rows: []int32{1}}
		var engine propagate.Engine = propagate.Plain{}
		spoil(change{&p, &in, &engine})
		if _, err := propagate.Run(t.Context(), engine, p, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := synth.Demo()
	in := propagate.Input{Adj: g.Adj, X: g.X, Rows: g.Split.Train}
	p := propagate.Propagation{Rule: propagate.SGC, Hops: 1}
	if _, err := propagate.Run(ctx, propagate.Plain{}, p, in); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the end of the context", err)
	}
}

// Callers may modify the slice that Rules returns.
func TestRulesAreTheCallersOwn(t *testing.T) {
	propagate.Rules()[0] = "changed"
	if want := []propagate.Rule{propagate.SGC, propagate.PPR, propagate.SAGE}; !slices.Equal(propagate.Rules(), want) {
		t.Errorf("rules %v, want %v", propagate.Rules(), want)
	}
}
