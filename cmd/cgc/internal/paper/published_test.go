package paper_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/paper"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestPublishedShape checks that every table has all data sets, ratios and methods of the paper, and each cell exactly
// once.
func TestPublishedShape(t *testing.T) {
	p := paper.Published()
	five := []string{"cora", "citeseer", "arxiv", "flickr", "reddit"}
	six := append(slices.Clone(five), "products")
	for _, want := range []struct {
		table   string
		graphs  []string
		columns int
		rows    int
		oom     int
	}{
		{"table2", five, 3, 5, 0}, {"table2-seconds", five, 3, 5, 0},
		// The rows are 15 baselines, CGC-X, CGC and the full graph. SNTK and SNTK-X are out of memory on two data sets, at
		// three ratios.
		{"table3", six, 18, 18, 12},
		{"table4", six, 17, 6, 4}, {"table5", []string{"arxiv"}, 7, 9, 0}, {"table6", five, 6, 5, 0},
		{"table9", []string{"flickr", "reddit"}, 7, 17, 0}, {"table10", []string{"arxiv", "flickr", "reddit"}, 6, 17, 0},
		{"table11", five, 5, 5, 0}, {"table12", five, 3, 10, 0},
	} {
		table := p.Table(want.table)
		if table == nil {
			t.Errorf("no %s", want.table)
			continue
		}
		mattest.Equal(t, len(table.Columns), want.columns, "columns of %s:", want.table)
		mattest.Equal(t, len(table.Rows), want.rows, "rows of %s:", want.table)
		seen, graphs, oom := map[string]bool{}, map[string]bool{}, 0
		for _, r := range table.Rows {
			key := r.Graph + r.Ratio + r.Method
			mattest.True(t, !seen[key], "%s has two rows %s %s %s", want.table, r.Graph, r.Ratio, r.Method)
			seen[key], graphs[r.Graph] = true, true
			mattest.Equal(t, len(r.Cells), len(table.Columns), "cells of %s, %s %s %s:", want.table, r.Graph, r.Ratio, r.Method)
			sizes, ok := p.SizesOf(r.Graph)
			if !ok || !slices.Contains(sizes.Ratios, r.Ratio) || want.table != "table3" && r.Ratio != sizes.Middle {
				t.Errorf("%s, %s: ratio %s is none of the data set's", want.table, r.Graph, r.Ratio)
			}
			for _, v := range r.Cells {
				switch {
				case v.OutOfMemory:
					oom++
				case table.Unit == "%" && !(v.Mean > 30 && v.Mean < 95 && v.Std < 3),
					table.Unit == "s" && !(v.Mean > 0.2 && v.Std == 0):
					t.Errorf("%s, %s %s: %q is out of range", want.table, r.Graph, r.Ratio, v.Text)
				case table.Unit == "%" && (strings.Count(v.Text, "±") == 1) == slices.Contains(table.Columns, "AVG"):
					t.Errorf("%s, %s %s: %q, want ± unless the table averages models", want.table, r.Graph, r.Ratio, v.Text)
				}
			}
		}
		mattest.Equal(t, len(graphs), len(want.graphs), "data sets of %s:", want.table)
		mattest.Equal(t, oom, want.oom, "cells of %s out of memory:", want.table)
	}
	mattest.Equal(t, len(p.Statistics.Graphs), 6, "data sets with statistics:")
	mattest.Equal(t, len(p.Sizes.Graphs), 6, "data sets with ratios:")
}

// TestPublishedAverages checks that the paper's AVG is the mean of its row, up to rounding.
func TestPublishedAverages(t *testing.T) {
	rows := 0
	for _, table := range paper.Published().Tables {
		avg := slices.Index(table.Columns, "AVG")
		if avg < 0 {
			continue
		}
		for _, r := range table.Rows {
			sum := 0.0
			for _, v := range r.Cells[:avg] {
				sum += v.Mean
			}
			// The tolerance is half a unit of the last digit, plus rounding of the sum. A single wrong digit changes the mean of
			// six numbers by at least 1/60, and usually by more.
			mean := sum / float64(avg)
			mattest.True(t, math.Abs(mean-r.Cells[avg].Mean) <= 0.05+1e-9,
				"%s, %s of %s: AVG is %s, the mean of the row %.3f", table.Name, r.Method, r.Graph, r.Cells[avg].Text, mean)
			rows++
		}
	}
	mattest.Equal(t, rows, 9+17+17, "rows with an average:")
}

// TestPublishedTablesAgree checks that numbers printed in two tables of the paper agree.
func TestPublishedTablesAgree(t *testing.T) {
	p := paper.Published()
	main, seconds := p.Table("table3"), p.Table("table4")
	compared := 0
	for _, table := range p.Tables {
		for _, r := range table.Rows {
			for c, v := range r.Cells {
				method := table.Columns[c]
				switch {
				case table.Name == "table12" && method == "SGC", r.Method != "" && method == "GCN":
					method = r.Method
				case r.Method != "" || table.Name == "table3" || table.Name == "table4":
					continue
				}
				with := main
				if table.Unit == "s" {
					with = seconds
				}
				other, ok := with.Value(r.Graph, r.Ratio, "", method)
				if !ok {
					continue
				}
				compared++
				// CGC-X on arxiv has ±0.1 in table 6 but ±0.3 in table 3 of the paper.
				if other.Mean != v.Mean || strings.Contains(v.Text, "±") && other.Std != v.Std &&
					!(table.Name == "table6" && r.Graph == "arxiv") {
					t.Errorf("%s of %s: %s in %s, %s in %s", method, r.Graph, v.Text, table.Name, other.Text, with.Name)
				}
			}
		}
	}
	mattest.True(t, compared >= 80, "compared %d cells, want at least 80", compared)
}

// TestPublishedRatios checks that the fractions of the training nodes fit the ratios of all nodes, and that speedups
// are quotients of the printed seconds.
func TestPublishedRatios(t *testing.T) {
	p := paper.Published()
	percent := func(s string) float64 {
		v := mattest.Must(strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64))
		return v / 100
	}
	for _, s := range p.Sizes.Graphs {
		of, ok := p.Of(s.Graph)
		if !ok {
			t.Fatalf("no statistics of %s", s.Graph)
		}
		all := of.Nodes
		if of.Task == "inductive" {
			all = of.Train
		}
		for i := range s.Ratios {
			// The paper rounds: 0.5% of arxiv's training nodes are 0.27% of its nodes, and printed as 0.25%.
			got, want := percent(s.OfTrain[i])*float64(of.Train)/float64(all), percent(s.Ratios[i])
			mattest.True(t, math.Abs(got/want-1) <= 0.08,
				"%s: %s of the training nodes are %.4f%% of all, the paper has %s", s.Graph, s.OfTrain[i], 100*got, s.Ratios[i])
		}
	}
	for _, r := range p.Table("table2-seconds").Rows {
		times, err := strconv.Atoi(strings.TrimSuffix(r.Speedup, "x"))
		if got := r.Cells[1].Mean / r.Cells[2].Mean; err != nil || math.Abs(got-float64(times)) > 0.51 {
			t.Errorf("%s: %s / %s is %.1f, the paper has %s", r.Graph, r.Cells[1].Text, r.Cells[2].Text, got, r.Speedup)
		}
	}
}
