package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/graph-condensation/cgc/bench"
)

// BenchText writes r as tables, in one call of w.Write: the machine, then each condensation, then growth where there is any.
func BenchText(w io.Writer, r *bench.Result) error {
	var b bytes.Buffer
	threads := "threads"
	if r.Threads == 1 {
		threads = "thread"
	}
	fmt.Fprintf(&b, "ceilings of this machine with %d %s and %s kernels:\n", r.Threads, threads, r.Kernel)
	Table(&b, "lrl", [][]string{
		{string(bench.Stream), figure(r.Ceilings.Stream), bench.Stream.Unit() + "/s"},
		{string(bench.Gather), figure(r.Ceilings.Gather), bench.Gather.Unit() + "/s"},
		{string(bench.Compute), figure(r.Ceilings.Compute), bench.Compute.Unit() + "/s"},
	})
	if r.Runs > 1 {
		fmt.Fprintf(&b, "\nseconds are medians of %d runs\n", r.Runs)
	}
	for _, c := range r.Cases {
		condensation(&b, c)
	}
	grown(&b, r)
	_, err := w.Write(b.Bytes())
	return err
}

// title names what is condensed, and how.
func title(size string, scale float64, partition string) string {
	if scale != 1 {
		size += fmt.Sprintf(" ×%g", scale)
	}
	return size + ", " + partition
}

func condensation(b *bytes.Buffer, c bench.Case) {
	fmt.Fprintf(b, "\n%s: %s nodes, %s edges, %s features, %s classes, %s training nodes, condensed to %s\n", title(c.Size, c.Scale, string(c.Partition)),
		Count(c.Nodes), Count(c.Edges), Count(c.Features), Count(c.Classes), Count(c.Train), Count(c.Condensed))
	rows := [][]string{{"step", "seconds", "work", "", "per second", "share of", "ceiling"}}
	for _, s := range c.Steps {
		row := []string{s.Name, seconds(s.Seconds)}
		if s.Work != nil && s.Amount > 0 && s.Seconds > 0 {
			row = append(row, figure(s.Amount), s.Ceiling.Unit(), figure(s.Amount/s.Seconds), strconv.FormatFloat(100*s.Share, 'f', 0, 64)+"%", string(s.Ceiling))
		}
		rows = append(rows, row)
	}
	Table(b, "lrrlrrl", rows)
	if c.Peak > 0 {
		fmt.Fprintf(b, "peak memory: %s\n", Bytes(c.Peak))
	}
}

// grown writes a table for each size and partition of which growth was fitted: seconds by scale, and the exponents.
func grown(b *bytes.Buffer, r *bench.Result) {
	for from := 0; from < len(r.Growth); {
		first := r.Growth[from]
		to := from
		for to < len(r.Growth) && r.Growth[to].Size == first.Size && r.Growth[to].Partition == first.Partition {
			to++
		}
		var cases []bench.Case
		for _, c := range r.Cases {
			if c.Size == first.Size && c.Partition == first.Partition {
				cases = append(cases, c)
			}
		}
		slices.SortStableFunc(cases, func(a, b bench.Case) int { return cmp.Compare(a.Scale, b.Scale) })
		rows := [][]string{{"seconds at"}}
		for _, c := range cases {
			rows[0] = append(rows[0], fmt.Sprintf("×%g", c.Scale))
		}
		rows[0] = append(rows[0], "exponent")
		for _, fit := range r.Growth[from:to] {
			row := []string{fit.Step}
			for _, c := range cases {
				at := slices.IndexFunc(c.Steps, func(s bench.Step) bool { return s.Name == fit.Step })
				cell := ""
				if at >= 0 {
					cell = seconds(c.Steps[at].Seconds)
				}
				row = append(row, cell)
			}
			rows = append(rows, append(row, strconv.FormatFloat(fit.Exponent, 'f', 2, 64)))
		}
		fmt.Fprintf(b, "\ngrowth of %s\n", title(first.Size, 1, string(first.Partition)))
		Table(b, "", rows)
		from = to
	}
}

// seconds writes a time to the tenth of a millisecond.
func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 4, 64) }

// figure writes a number with three significant digits, and all of those before the point.
func figure(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
