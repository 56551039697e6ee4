package predictions_test

import (
	"context"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/predictions"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/experiment/model"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// kept is a format that keeps the last table that was written.
type kept struct {
	format.Format
	table *format.Table
}

func (k *kept) WriteTable(_ context.Context, _ string, t *format.Table) error {
	k.table = t
	return nil
}

// TestColumns checks that the columns of a table have different names, and that ids are integers only if all are.
func TestColumns(t *testing.T) {
	p := predictions.Predictions{
		Model: &model.Model{Trained: &gnn.Trained{Classes: 2}, ClassNames: []string{"class", "other"}}, Nodes: []int32{0, 1},
		Probabilities: &mat.Dense{Rows: 2, Cols: 2, Data: []float32{1, 0, 0.25, 0.75}},
	}
	parquet := new(kept)
	format.Register("parquet", parquet)
	for _, c := range []struct {
		ids  []string
		want any
	}{
		{nil, []int32{0, 1}},
		{[]string{"-7", "3000000000"}, []int64{-7, 3000000000}},
		{[]string{"7", "007"}, []string{"7", "007"}},
		{[]string{"7", "+8"}, []string{"7", "+8"}},
	} {
		p.IDs = c.ids
		mattest.OK(t, p.SaveParquet(t.Context(), "out.parquet"))
		mattest.Equal(t, parquet.table.Columns[0].Data, c.want, "ids %q:", c.ids)
	}
	var text strings.Builder
	mattest.OK(t, p.WriteCSV(&text))
	mattest.Equal(t, text.String(), "id,class,p(class),other\n7,class,1,0\n+8,other,0.25,0.75\n", "CSV:")
}
