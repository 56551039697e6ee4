package condense

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/native"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/object"
)

// fileVersion is the latest version of the files of condensed graphs.
//
//	1: the first version
//	2: y_soft, which a model learns in place of y
//	3: members may be missing
//
// Files of any version may contain names of source nodes and classes, and Source. A reader may ignore them.
//
// Save writes the lowest version that can represent the graph, so that older readers can read as many files as
// possible.
const fileVersion = 3

// account is the run metadata. The keys of Condensed.Account follow in the same object.
type account struct {
	Budget   []int    `json:"budget"`
	Seconds  *Seconds `json:"seconds,omitempty"` // only if Condensed.Timed
	Warnings []string `json:"warnings,omitempty"`
}

// Save writes c, which must be valid, to path, in the format of the file extension. The extension .safetensors is
// always supported. Programs that import package dataset also write .pt, .npz and the other formats in format.Stores.
// The names in the file follow PyTorch Geometric.
//
//	x (N′×d), y (N′), edge_index (2×E, each edge in both directions), edge_weight (E); E = 0 if A′ = I
//	members.indptr, members.indices, members.weights: the rows of P̂, if c has members
//	y_soft (N′×classes), if c has soft labels
//	scaling.mean, scaling.std, if the features were standardised
//	members.ids, if the nodes of the graph have names
//
// Configuration, sizes and account are in the metadata (docs/reference/condensed-file.md). The file appears under its
// name only when it is complete. It replaces an existing file. Equal graphs give equal bytes: Seconds are left out,
// unless c.Timed is set. An error about the file extension wraps a *format.UnknownExtensionError.
func (c *Condensed) Save(ctx context.Context, path string) error { return c.SaveAs(ctx, path, "") }

// SaveAs is like Save, but uses the named format. An empty name selects the format by the file extension. An error
// about the name wraps a *format.UnknownError, or says that the format stores no condensed graphs.
func (c *Condensed) SaveAs(ctx context.Context, path, name string) (err error) {
	defer memory.Recover(&err)
	store, err := format.StoreFor(path, name)
	if err != nil {
		return withoutDataset(err)
	}
	if err := c.Validate(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	meta, err := c.metadata()
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if s, is := store.(format.ArrayStore); is {
		return s.WriteArrays(ctx, path, c.arrays(meta))
	}
	return store.(format.TableStore).WriteTables(ctx, path, c.tables(meta))
}

// Load reads a condensed graph that Save wrote, in any of its formats. The error names the file and what is wrong with
// it.
//
// If the file has no edges, Adj is nil, even if it was an empty matrix when it was saved. Edges and source nodes
// without weights get weights of 1.
func Load(path string) (*Condensed, error) {
	c, err := load(path)
	if err != nil {
		if place, is := errors.AsType[*format.ReadError](err); is && place.File == path {
			err = place.Err
		}
		if system, is := errors.AsType[*os.PathError](err); is && system.Path == path {
			return nil, fmt.Errorf("reading a condensed graph: %w", err)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func load(path string) (_ *Condensed, err error) {
	defer memory.Recover(&err)
	ctx := context.Background()
	place, err := format.RecogniseStore(path)
	if unknown := new(format.UnknownExtensionError); errors.As(err, &unknown) {
		if a, err := native.Format.ReadArrays(ctx, path); err == nil { // kept for old files
			return ofArrays(a)
		}
	}
	if err != nil {
		return nil, withoutDataset(err)
	}
	if t, is := place.Format.(format.Teller); is {
		meta, err := t.ReadMetadata(ctx, place.Path)
		if err == nil {
			err = checkKind(meta) // before a large graph is read
		}
		if err != nil {
			return nil, err
		}
	}
	if store, is := place.Format.(format.ArrayStore); is {
		a, err := store.ReadArrays(ctx, place.Path)
		if err != nil {
			return nil, err
		}
		return ofArrays(a)
	}
	t, err := place.Format.(format.TableStore).ReadTables(ctx, place.Path)
	if err != nil {
		return nil, err
	}
	return ofTables(t)
}

// withoutDataset adds an import hint to an error about an unknown format, if the program only has the native format.
func withoutDataset(err error) error {
	unknown := errors.As(err, new(*format.UnknownError)) || errors.As(err, new(*format.UnknownExtensionError))
	if !unknown || !slices.Equal(format.Stores(), []string{"safetensors"}) {
		return err
	}
	return fmt.Errorf("%w; to use other formats, import github.com/graph-condensation/cgc/dataset", err)
}

// metadata returns the strings that a file contains in addition to the arrays.
func (c *Condensed) metadata() (map[string]string, error) {
	own := account{Budget: c.Budget, Warnings: c.Warnings}
	if c.Timed {
		own.Seconds = &c.Seconds
	}
	told, err := object.Of(own)
	if err == nil && len(c.Account) > 0 {
		var more object.Object
		more, err = object.Parse(c.Account)
		told = append(told, more...)
	}
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	config, err := c.configuration()
	if err != nil {
		return nil, err
	}
	version := 1
	if c.Soft != nil {
		version = 2
	}
	if c.Members == nil {
		version = 3
	}
	meta := map[string]string{
		"format": format.CondensedKind, "format_version": strconv.Itoa(version),
		"graph": c.Graph, "graph_nodes": strconv.Itoa(c.GraphNodes), "classes": strconv.Itoa(c.Classes),
		"config": string(config), "account": string(told.Bytes()),
	}
	if c.Source != nil {
		source, err := json.Marshal(c.Source)
		if err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
		meta[sourceKey] = string(source)
	}
	format.PutNames(meta, format.ClassNames, c.ClassNames)
	format.PutNames(meta, format.FeatureNames, c.FeatureNames)
	return meta, nil
}

// stored holds the fields of Condensed that a file stores as keys of the configuration.
type stored struct {
	Method     string `json:"method"`
	Inductive  bool   `json:"inductive"`
	Normalized bool   `json:"normalize_features"`
	Causal     bool   `json:"causal"`
}

// configuration returns c.Config for a file. If the keys of stored differ from the fields of c, the fields count.
func (c *Condensed) configuration() (json.RawMessage, error) {
	config, is := c.Config, stored{}
	if len(config) == 0 {
		config = json.RawMessage("{}")
	}
	parameters, err := object.Parse(config)
	if err == nil {
		err = json.Unmarshal(config, &is)
	}
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	fields := stored{c.Method, c.Inductive, c.NormalizedFeatures, c.Causal}
	if is == fields {
		return config, nil
	}
	own, err := object.Of(fields)
	if err != nil {
		return nil, err
	}
	for k, same := range []bool{
		is.Method == c.Method, is.Inductive == c.Inductive, is.Normalized == c.NormalizedFeatures,
		is.Causal == c.Causal,
	} {
		if !same {
			parameters = append(parameters.Without(own[k].Key), own[k])
		}
	}
	return parameters.Bytes(), nil
}

// checkKind returns an error unless the metadata belongs to a condensed graph.
func checkKind(meta map[string]string) error {
	if meta["format"] != format.CondensedKind {
		return fmt.Errorf("format %q in the metadata, expected %q: not a condensed graph", meta["format"],
			format.CondensedKind)
	}
	return nil
}

// ofMetadata returns a Condensed with the fields that are in the metadata.
func ofMetadata(meta map[string]string) (*Condensed, error) {
	if err := checkKind(meta); err != nil {
		return nil, err
	}
	if v, err := strconv.Atoi(meta["format_version"]); err != nil || v < 1 || v > fileVersion {
		return nil, fmt.Errorf("format version %q, must be 1 to %d", meta["format_version"], fileVersion)
	}
	var config stored
	if err := json.Unmarshal([]byte(meta["config"]), &config); err != nil {
		return nil, fmt.Errorf("configuration in the metadata: %w", err)
	}
	var told account
	more, err := object.Parse([]byte(meta["account"]))
	if err == nil {
		err = json.Unmarshal([]byte(meta["account"]), &told)
	}
	if err != nil {
		return nil, fmt.Errorf("account in the metadata: %w", err)
	}
	nodes, errNodes := strconv.Atoi(meta["graph_nodes"])
	classes, errClasses := strconv.Atoi(meta["classes"])
	if err := errors.Join(errNodes, errClasses); err != nil || nodes < 0 || classes < 1 {
		return nil, fmt.Errorf("metadata: graph_nodes %q and classes %q, must be at least 0 and 1",
			meta["graph_nodes"], meta["classes"])
	}
	c := &Condensed{
		Classes: classes, NormalizedFeatures: config.Normalized, Inductive: config.Inductive,
		Causal: config.Causal,
		Graph:  meta["graph"], GraphNodes: nodes,
		Method: config.Method, Config: json.RawMessage(meta["config"]), Budget: told.Budget,
		Account: more.Without("budget", "seconds", "warnings").Bytes(), Warnings: told.Warnings,
	}
	if told.Seconds != nil {
		c.Seconds, c.Timed = *told.Seconds, true
	}
	if c.Source, err = sourceOf(meta); err != nil {
		return nil, err
	}
	c.ClassNames, err = format.NamesOf(meta, format.ClassNames, classes)
	return c, err
}
