package paneled_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/mat"
)

// eighths returns a matrix of multiples of 1/8, which all storages keep exactly.
func eighths(rows, cols int) *mat.Dense {
	random := rand.New(rand.NewPCG(1, 2))
	m := mat.NewDense(rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(random.IntN(255)-127) / 8
	}
	return m
}

// Panels of any width return the same blocks as the dense matrix.
func TestPanelsReadBlock(t *testing.T) {
	x := eighths(70, 23)
	lists := map[string][]int32{
		"none": {}, "one": {69}, "run": {3, 4, 5, 6}, "runs": {0, 1, 2, 68, 69, 7, 8}, "any": {5, 5, 3, 69, 0, 1, 1},
	}
	for _, s := range mat.Storages() {
		for width := range 25 {
			p := mattest.Must(paneled.Copy(x, width, s))
			if got := mat.PanelWidth(p); got != paneled.Width(23, width) {
				t.Errorf("panels of %d columns, want %d", got, width)
			}
			for name, rows := range lists {
				for lo := range 24 {
					for hi := lo; hi <= 23; hi++ {
						var got, want mat.Dense
						mattest.OK(t, errors.Join(mat.Read(&got, p, rows, lo, hi), x.ReadBlock(&want, rows, lo, hi)))
						if !slices.Equal(got.Data, want.Data) {
							t.Fatalf("%s in panels of %d, rows %s, columns %d to %d: %v, want %v", s, width, name, lo, hi,
								got.Data, want.Data)
						}
					}
				}
			}
		}
	}
}

// Each panel is contiguous, in the order of rows.
func TestPanelsStandTogether(t *testing.T) {
	x := eighths(5, 7)
	p := mattest.Must(paneled.Copy(x, 3, mat.F32))
	for k, columns := range [][2]int{{0, 3}, {3, 6}, {6, 7}} {
		mattest.Equal(t, p.Floats(k), x.Columns(columns[0], columns[1]).Data, "panel %d is", k)
	}
	if p.Count() != 3 || p.Halves(0) != nil {
		t.Errorf("%d panels, halves %v", p.Count(), p.Halves(0))
	}
}

// Reading gives the nearest value of the storage, within half a step.
func TestPanelsRound(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	x := mattest.Normal(100, 10, random)
	for s, bits := range map[mat.Storage]int{mat.F16: 11, mat.BF16: 8, mat.F32: 24} {
		p := mattest.Must(paneled.Copy(x, 4, s))
		largest := 0.0
		for i := range x.Rows {
			var row mat.Dense
			mattest.OK(t, p.ReadBlock(&row, []int32{int32(i)}, 0, 10))
			for j, v := range row.Data {
				exact := float64(x.Row(i)[j])
				largest = max(largest, math.Abs(float64(v)-exact)/math.Abs(exact))
			}
		}
		step := math.Ldexp(1, -bits)
		if largest > step || s != mat.F32 && largest < step/2 {
			t.Errorf("%s: relative error %g, want at most %g and near it", s, largest, step)
		}
	}
}

func TestPanelsRefuse(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		s     mat.Storage
		value float32
		want  string
	}{
		{mat.F16, 65520, "feature 5 of node 2 is 65520, expected −65504 to 65504 for f16"},
		{mat.F16, -65505, "feature 5 of node 2 is -65505, expected"},
		{mat.F16, 65504, ""},
		{mat.F16, nan, "feature 5 of node 2 is NaN, must be a finite number"},
		{mat.BF16, math.MaxFloat32, "expected −3.3895314e+38 to 3.3895314e+38 for bf16"},
		{mat.BF16, inf, "is +Inf, must be a finite number"},
		{mat.F32, nan, "feature 5 of node 2 is NaN"},
		{mat.F32, math.MaxFloat32, ""},
	} {
		x := eighths(4, 7)
		x.Row(2)[5] = c.value
		_, err := paneled.Copy(x, 3, c.s)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v in %s: error %v, want %q", c.value, c.s, err, c.want)
		}
	}
}

// Another program may have written infinite values. FirstNotFinite finds them, and reading them is an error that names
// the position.
func TestPanelsThatAreNotFinite(t *testing.T) {
	halves := [][]uint16{make([]uint16, 2*600), make([]uint16, 600)}
	halves[1][400] = 0x7c00
	p := mattest.Must(paneled.OfHalves(600, 3, 2, mat.F16, halves))
	if row, col, found, err := mat.FirstNotFinite(t.Context(), p); row != 400 || col != 2 || !found || err != nil {
		t.Errorf("found %v at (%d, %d), error %v, want (400, 2)", found, row, col, err)
	}
	var block mat.Dense
	var wrong *mat.CannotKeep
	if err := p.ReadBlock(&block, []int32{5, 400}, 1, 3); !errors.As(err, &wrong) || wrong.Row != 400 || wrong.Col != 2 {
		t.Errorf("error %v, want one that names feature 2 of node 400", err)
	}
	if err := p.ReadBlock(&block, []int32{5, 400}, 0, 2); err != nil {
		t.Errorf("columns that are finite: %v", err)
	}
}

func TestPanelsOfWrongShapes(t *testing.T) {
	for want, make := range map[string]func() (*paneled.Matrix, error){
		"storage \"f8\"":    func() (*paneled.Matrix, error) { return paneled.New(2, 2, 1, "f8") },
		"at least 1 column": func() (*paneled.Matrix, error) { return paneled.New(2, 0, 1, mat.F16) },
		"2 panels for 5 columns, expected 3": func() (*paneled.Matrix, error) {
			return paneled.OfFloats(1, 5, 2, [][]float32{{1, 2}, {3, 4}})
		},
		"panel 1 holds 2 numbers, expected 1×1": func() (*paneled.Matrix, error) {
			return paneled.OfHalves(1, 3, 2, mat.BF16, [][]uint16{{1, 2}, {3, 4}})
		},
		"of 16 bits with the storage f32": func() (*paneled.Matrix, error) { return paneled.OfHalves(1, 1, 1, mat.F32, nil) },
	} {
		mattest.Fails(t, want)(make())
	}
}
