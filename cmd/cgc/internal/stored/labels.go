package stored

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/npy"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/mat"
)

// Label gives nodes other labels and, if l.Parted, other parts of the split. Commit makes this permanent. If Label
// fails, f is as before.
func (f *Folder) Label(l *table.Labels) error {
	y, err := f.rows["y"].Integers(f.Rows)
	if err != nil {
		return err
	}
	for i, v := range l.Nodes {
		y[v] = l.Y[i]
	}
	var leave []int32 // the nodes that get another part, or none
	if l.Parted {
		leave = slices.Sorted(slices.Values(l.Nodes))
	}
	g := f.Graph
	changed := map[string]format.Array{"y.npy": {Name: "y", Data: y}}
	for _, part := range []struct {
		name  string
		count *int
		set   []int32
	}{{"train", &g.Train, l.Split.Train}, {"val", &g.Val, l.Split.Val}, {"test", &g.Test, l.Split.Test}} {
		in, err := f.rows[part.name].Integers(*part.count)
		if err != nil {
			return err
		}
		in = slices.DeleteFunc(in, func(v int32) bool { _, leaves := slices.BinarySearch(leave, v); return leaves })
		in = append(in, part.set...)
		slices.Sort(in)
		for _, v := range in {
			if v < 0 || int(v) >= f.Rows {
				return fmt.Errorf("%s: node %d, must be 0 to %d", f.file(part.name), v, f.Rows-1)
			}
			if y[v] == graph.Unlabelled {
				return fmt.Errorf("node %s is in the split (%s), and would have no label: leave it out of the split",
					f.name(v), part.name)
			}
		}
		changed[part.name+".npy"], *part.count = format.Array{Name: part.name, Data: in}, len(in)
	}
	f.Graph, f.changed, f.Digest = g, changed, graph.Digest{}
	return nil
}

// name returns the name of a node in messages.
func (f *Folder) name(v int32) string {
	if f.IDs == nil {
		return strconv.Itoa(int(v))
	}
	return strconv.Quote(f.IDs[v])
}

// relabelled fills a folder that replaces f: with the changed arrays, and with links to the others.
func (f *Folder) relabelled(folder string) error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if a, changes := f.changed[e.Name()]; changes {
			err = atomicfile.Write(path, func(w io.Writer) error { return npy.Write(w, a, mat.F32) })
		} else if e.Name() != InfoName {
			err = os.Link(filepath.Join(f.path, e.Name()), path)
		}
		if err != nil {
			return err
		}
	}
	return f.describe(folder)
}
