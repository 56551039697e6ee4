package condense_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/atomicfile"
)

func init() { format.Register("rows", rows{}) }

// rows is a store of tables without types: each cell is text, and each feature is a separate column.
type rows struct{}

type rowsFile struct {
	Metadata     map[string]string
	Nodes, Edges [][]string
}

func (rows) Describe() format.Description {
	return format.Description{Title: "rows", File: "a .rows file", Extensions: []string{".rows"}}
}

func (rows) Recognise(path string) format.Certainty {
	if filepath.Ext(path) == ".rows" {
		return format.Likely
	}
	return format.No
}

func (rows) Read(_ context.Context, path string) (*graph.Graph, []string, error) {
	return nil, nil, &format.ReadError{File: path, Err: format.ErrCondensed}
}

// cells returns row i of a column, or the header if i is −1. A column with several values per row becomes numbered
// columns.
func cells(c format.Column, i int) (line []string) {
	data, numbers := c.Data.([]float32)
	switch several := c.Width > 0 && numbers; {
	case !several && i < 0:
		return []string{c.Name}
	case !several:
		return []string{c.Text(i)}
	case i < 0:
		for j := range c.Width {
			line = append(line, c.Name+strconv.Itoa(j))
		}
	default:
		for _, v := range data[i*c.Width:][:c.Width] {
			line = append(line, strconv.FormatFloat(float64(v), 'g', -1, 32))
		}
	}
	return line
}

func (rows) WriteTables(ctx context.Context, path string, t *format.Tables) error {
	file := rowsFile{Metadata: t.Metadata}
	for table, out := range map[*format.Table]*[][]string{&t.Nodes: &file.Nodes, &t.Edges: &file.Edges} {
		header := true
		for block, err := range table.Blocks() {
			if err != nil {
				return err
			}
			for i := -1; i < block.Rows; i++ {
				var line []string
				for _, c := range block.Columns {
					line = append(line, cells(c, i)...)
				}
				if i >= 0 || header {
					*out = append(*out, line)
				}
			}
			header = false
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(file) })
}

func (rows) ReadTables(_ context.Context, path string) (*format.Tables, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file rowsFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	t := &format.Tables{Metadata: file.Metadata}
	for table, lines := range map[*format.Table][][]string{&t.Nodes: file.Nodes, &t.Edges: file.Edges} {
		if len(lines) == 0 {
			continue
		}
		table.Rows = len(lines) - 1
		for k, name := range lines[0] {
			var cells []string
			for _, line := range lines[1:] {
				cells = append(cells, line[k])
			}
			table.Columns = append(table.Columns, format.Column{Name: name, Data: cells})
		}
		for _, name := range []string{"x", "y_soft"} {
			if err := table.Gather(name); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

func TestStores(t *testing.T) {
	for _, name := range []string{"rows", "safetensors"} {
		t.Run(name, func(t *testing.T) { formattest.Condensed(t, name) })
	}
}

// Tables that were damaged by hand are errors that name the column and the row.
func TestTablesNameTheFault(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "small.rows")
	if err := whole(t).Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	column := func(lines [][]string, name string) int {
		for k, n := range lines[0] {
			if n == name {
				return k
			}
		}
		t.Fatalf("no column %s", name)
		return 0
	}
	set := func(name string, row int, value string) func(*rowsFile) {
		return func(f *rowsFile) { f.Nodes[row+1][column(f.Nodes, name)] = value }
	}
	edge := func(name string, row int, value string) func(*rowsFile) {
		return func(f *rowsFile) { f.Edges[row+1][column(f.Edges, name)] = value }
	}
	for want, change := range map[string]func(*rowsFile){
		`nodes: column x3: row 4 is "wide", must be a number`:        set("x3", 4, "wide"),
		`nodes: column label: row 2 is 9, must be 0 to 2`:            set("label", 2, "9"),
		`nodes: column members: row 5 is "3,4", must be a JSON list`: set("members", 5, "3,4"),
		`nodes: column members: node 100, must be 0 to 99`:           set("members", 5, "[100]"),
		`nodes: column y_soft0: row 0 is "", must be a number`:       set("y_soft0", 0, ""),
		`edges: column target: row 1 is "44", must be`:               edge("target", 1, "44"),
		`weight -1, must be a positive finite number`:                edge("weight", 0, "-1"),
		`column member_weights is missing`:                           set("member_weights", -1, "weights"),
		`the table of nodes is empty, must have`:                     func(f *rowsFile) { f.Nodes = f.Nodes[:1] },
		`scaling_mean in the metadata`:                               func(f *rowsFile) { f.Metadata["scaling_mean"] = "[" },
		`expected "cgc-condensed": not a condensed graph`:            func(f *rowsFile) { f.Metadata["format"] = "x" },
	} {
		var file rowsFile
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		change(&file)
		changed, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		bad := filepath.Join(folder, "bad.rows")
		if err := os.WriteFile(bad, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err = condense.Load(bad); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "nodes: ")) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestUnknownFormatSaysWhatToImport checks the error of a program that does not import package dataset.
func TestUnknownFormatSaysWhatToImport(t *testing.T) {
	_, err := format.StoreFor("small.xyz", "")
	const hint = "import github.com/graph-condensation/cgc/dataset"
	if few := condense.WithoutDataset(err, []string{"safetensors"}); !strings.Contains(few.Error(), hint) {
		t.Errorf("error %v, want one with %q", few, hint)
	}
	if all := condense.WithoutDataset(err, format.Stores()); all != err {
		t.Errorf("with all formats, the error is %v, want %v", all, err)
	}
	if missing := condense.WithoutDataset(os.ErrNotExist, []string{"safetensors"}); missing != os.ErrNotExist {
		t.Errorf("error %v, want %v", missing, os.ErrNotExist)
	}
}

// TestSaveGoesByTheName checks that the file extension decides the format, and that the error about an unknown
// extension lists the known ones.
func TestSaveGoesByTheName(t *testing.T) {
	folder := t.TempDir()
	err := whole(t).Save(t.Context(), filepath.Join(folder, "small.xyz"))
	var unknown *format.UnknownExtensionError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), ".safetensors") {
		t.Errorf("error %v, want one that lists extensions", err)
	}
	if err := whole(t).SaveAs(t.Context(), filepath.Join(folder, "a"), "mtx"); err == nil ||
		!strings.Contains(err.Error(), "mtx keeps no condensed graphs, must be one of safetensors") {
		t.Errorf("error %v, want one that lists formats", err)
	}
	other := filepath.Join(folder, "small.other")
	if err := whole(t).SaveAs(t.Context(), other, "safetensors"); err != nil {
		t.Fatal(err)
	}
	if _, err := condense.Load(other); err != nil {
		t.Errorf("a safetensors file of another name: %v", err)
	}
	text := filepath.Join(folder, "small.txt")
	if err := os.WriteFile(text, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := condense.Load(text); !errors.As(err, &unknown) {
		t.Errorf("error %v, want one that lists extensions", err)
	}
}

// graphs is a store whose files are all large graphs.
type graphs struct{ t *testing.T }

func (graphs) Describe() format.Description {
	return format.Description{Title: "graphs", File: "a .graphs file", Extensions: []string{".graphs"}}
}

func (graphs) Recognise(path string) format.Certainty {
	if filepath.Ext(path) == ".graphs" {
		return format.Certain
	}
	return format.No
}

func (graphs) Read(context.Context, string) (*graph.Graph, []string, error) { return nil, nil, nil }

func (graphs) WriteArrays(context.Context, string, *format.Arrays) error { return nil }

func (graphs) ReadMetadata(context.Context, string) (map[string]string, error) {
	return map[string]string{"format": format.GraphKind}, nil
}

func (g graphs) ReadArrays(context.Context, string) (*format.Arrays, error) {
	g.t.Error("a large graph was read to find that it is no condensed one")
	return nil, nil
}

// TestKindFirst checks that a large graph that is loaded as a condensed one is rejected before it is read.
func TestKindFirst(t *testing.T) {
	format.Register("graphs", graphs{t})
	path := filepath.Join(t.TempDir(), "large.graphs")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := condense.Load(path); err == nil || !strings.Contains(err.Error(), "not a condensed graph") {
		t.Errorf("error %v", err)
	}
}
