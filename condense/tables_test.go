package condense_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
)

func TestStores(t *testing.T) {
	for _, name := range []string{"graphml", "safetensors"} {
		t.Run(name, func(t *testing.T) { formattest.Condensed(t, name) })
	}
}

// Loading tables that were damaged by hand gives errors that name the column and the row. A GraphML file has each cell
// as text.
func TestTablesNameTheFault(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "small.graphml")
	mattest.OK(t, whole(t).Save(t.Context(), path))
	text := mattest.Must(os.ReadFile(path))
	set := func(of, attribute string, row int, value string) [2]string { // the value of an attribute of a node or an edge
		key := regexp.MustCompile(`id="(d\d+)" for="` + of + `" attr.name="` + attribute + `"`).FindSubmatch(text)
		element := regexp.MustCompile(`<`+of+` .*?</`+of+`>`).FindAll(text, row+1)[row]
		cell := regexp.MustCompile(`<data key="` + string(key[1]) + `">[^<]*`)
		return [2]string{string(element), cell.ReplaceAllString(string(element), `<data key="`+string(key[1])+`">`+value)}
	}
	for want, change := range map[string][2]string{
		`column x3: row 4 is "wide", must be a number`:        set("node", "x3", 4, "wide"),
		`column label: row 2 is 9, must be 0 to 2`:            set("node", "class", 2, "9"),
		`column members: row 5 is "3,4", must be a JSON list`: set("node", "members", 5, "3,4"),
		`column members: node 100, must be 0 to 99`:           set("node", "members", 5, "[100]"),
		`column y_soft0: row 0 is "", must be a number`:       set("node", "y_soft0", 0, ""),
		`edges: column target: row 1 is "44", must be`:        {`target="4"`, `target="44"`},
		`weight -1, must be a positive finite number`:         set("edge", "weight", 0, "-1"),
		`column member_weights is missing`:                    {"member_weights", "weights"},
		`the table of nodes is empty, must have`:              {between(string(text), "<node", "</graph>"), ""},
		`scaling_mean in the metadata`:                        {"[0,0,0,0,0,0,0,0]", "["},
		`expected "cgc-condensed": not a condensed graph`:     {"cgc-condensed", "x"},
	} {
		changed := bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1)
		bad := filepath.Join(folder, "bad.graphml")
		mattest.OK(t, os.WriteFile(bad, changed, 0o600))
		mattest.Fails(t, want)(condense.Load(bad))
	}
}

// between returns the part of text from one word to before another.
func between(text, from, to string) string {
	return text[strings.Index(text, from):strings.Index(text, to)]
}

// TestSaveGoesByTheName checks that the file extension decides the format, and that the error about an unknown
// extension lists the known ones.
func TestSaveGoesByTheName(t *testing.T) {
	folder := t.TempDir()
	err := whole(t).Save(t.Context(), filepath.Join(folder, "small.xyz"))
	var unknown *format.UnknownExtensionError
	text := err.Error()
	if !errors.As(err, &unknown) || !strings.Contains(text, ".safetensors") || strings.Contains(text, "import") {
		t.Errorf("error %v, want one that lists extensions", err)
	}
	mattest.WantError(t, whole(t).SaveAs(t.Context(), filepath.Join(folder, "a"), "mtx"),
		"mtx keeps no condensed graphs, must be one of safetensors")
	other := filepath.Join(folder, "small.other")
	mattest.OK(t, whole(t).SaveAs(t.Context(), other, "safetensors"))
	if _, err := condense.Load(other); err != nil {
		t.Errorf("a safetensors file of another name: %v", err)
	}
	nothing := filepath.Join(folder, "small.txt")
	mattest.OK(t, os.WriteFile(nothing, []byte("nothing"), 0o600))
	if _, err := condense.Load(nothing); !errors.As(err, &unknown) {
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
	g.t.Error("a large graph was read to find that it is not a condensed graph")
	return nil, nil
}

// TestKindFirst checks that a large graph that is loaded as a condensed one is rejected before it is read.
func TestKindFirst(t *testing.T) {
	format.Register("graphs", graphs{t})
	path := filepath.Join(t.TempDir(), "large.graphs")
	mattest.OK(t, os.WriteFile(path, nil, 0o600))
	mattest.Fails(t, "not a condensed graph")(condense.Load(path))
}
