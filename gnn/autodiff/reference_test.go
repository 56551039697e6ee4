package autodiff_test

import (
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/mat"
)

// table is a float64 matrix for reference implementations.
type table struct {
	rows, cols int
	v          []float64
}

func newTable(rows, cols int, at func(i, j int) float64) table {
	m := table{rows, cols, make([]float64, rows*cols)}
	for i := range rows {
		for j := range cols {
			m.v[i*cols+j] = at(i, j)
		}
	}
	return m
}

func (m table) at(i, j int) float64 { return m.v[i*m.cols+j] }

// dense rounds m to float32.
func (m table) dense() *mat.Dense {
	d := mat.NewDense(m.rows, m.cols)
	for i, v := range m.v {
		d.Data[i] = float32(v)
	}
	return d
}

// normal returns a matrix of standard normal values that float32 represents exactly. None is within 1/16 of zero, where
// the derivatives of ReLU and similar functions jump.
func normal(rows, cols int, random *rand.Rand) table {
	return newTable(rows, cols, func(_, _ int) float64 {
		for {
			if v := math.Round(random.NormFloat64()*1024) / 1024; math.Abs(v) > 1./16 {
				return v
			}
		}
	})
}

func (m table) each(f func(x float64) float64) table {
	return newTable(m.rows, m.cols, func(i, j int) float64 { return f(m.at(i, j)) })
}

func (m table) with(o table, f func(x, y float64) float64) table {
	return newTable(m.rows, m.cols, func(i, j int) float64 { return f(m.at(i, j), o.at(i, j)) })
}

func (m table) t() table {
	return newTable(m.cols, m.rows, func(i, j int) float64 { return m.at(j, i) })
}

func (m table) times(o table) table {
	return newTable(m.rows, o.cols, func(i, j int) (s float64) {
		for k := range m.cols {
			s += m.at(i, k) * o.at(k, j)
		}
		return s
	})
}

func (m table) sum() (s float64) {
	for _, v := range m.v {
		s += v
	}
	return s
}

func (m table) logSoftmax() table {
	return newTable(m.rows, m.cols, func(i, j int) float64 {
		sum := 0.
		for k := range m.cols {
			sum += math.Exp(m.at(i, k))
		}
		return m.at(i, j) - math.Log(sum)
	})
}

func scalar(x float64) table { return table{1, 1, []float64{x}} }

func plus(x, y float64) float64  { return x + y }
func minus(x, y float64) float64 { return x - y }
func times(x, y float64) float64 { return x * y }
func relu(x float64) float64     { return max(0, x) }
