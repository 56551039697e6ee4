package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/cluster"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/stored"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

type propagateJob struct {
	*command
	config   cgc.Config
	columns  string
	merge    bool
	adds     bool
	relabels bool
	out      string
	force    bool
	chosen   chosenNodes
	store    mat.Storage
}

func (c *command) propagateCommand() *cobra.Command {
	job := &propagateJob{command: c, config: cgc.Defaults(), store: mat.F32}
	cmd := &cobra.Command{
		Use: "propagate GRAPH -o FOLDER",
		Example: examples(
			"cgc propagate my-graph/ --hops 3 -o propagated",
			"cgc propagate large.safetensors --part train,val,test --store f16 --memory 16GB -o propagated",
			"cgc propagate large.safetensors --columns 0:16 -o part-0.safetensors",
			"cgc propagate my-graph/ --causal -o growing",
			"cgc propagate --add new/ -o growing",
			"cgc propagate --merge part-0.safetensors part-1.safetensors -o embeddings.safetensors",
		),
		Short: "Write propagated features: numpy arrays for SIGN, SGC and similar models, or embeddings for cgc condense",
		Long: `Propagate the features of a graph, which may be larger than memory, and write a folder with an array for
each hop: hop0.npy (the features themselves), hop1.npy, and so on. Row i belongs to node nodes.npy[i]. y.npy has the
labels, −1 for none; train.npy, val.npy and test.npy list the rows of each part of the split; ids.npy has the names of
the nodes. numpy.load(FILE, mmap_mode="r") maps an array instead of reading it.

On Linux, FOLDER.checkpoint keeps the feature columns that an interrupted run has finished, and the same command resumes
from it. This needs a graph in a native .safetensors file that has not changed. There is no checkpoint if the hops fit
in memory, unless they are few compared with the graph (--part): writing them twice would take longer than computing
them.

With --causal, degree.npy has the degree of each node when it arrived, and a later run can add new nodes to the folder
(--add): nodes.csv and edges.csv in another folder, Parquet files, or rows of a database, in the order of their ids. It
computes only their rows, and the result is byte-identical to that of propagating the full graph. --relabel sets labels
that arrive later, from a table with the columns id and label.

If the output is a .safetensors file, write only the embeddings of the training nodes, which cgc condense --embeddings
reads. Feature columns are independent, so several machines can each propagate some of them (--columns). --merge joins
their files. docs/how-to/several-machines.md has a script for Slurm.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if job.merge && len(args) == 0 {
				return usagef("propagate --merge needs files: cgc propagate --merge PART… -o FILE")
			}
			switch {
			case job.merge:
				return nil
			case job.adds && job.relabels:
				return usagef("--add and --relabel, must be one of them")
			case job.adds:
				return arguments(1, "FOLDER")(cmd, args)
			case job.relabels:
				return arguments(1, "FILE")(cmd, args)
			}
			return arguments(1, "GRAPH")(cmd, args)
		},
		ValidArgsFunction: completeGraph,
		RunE:              runs(job.run),
	}
	flags := inOrder(cmd)
	flags.StringVar(&job.columns, "columns", "", "propagate the columns `LO:HI`, from LO to HI - 1 (default all)")
	flags.BoolVar(&job.merge, "merge", false,
		"join the files given in place of GRAPH; together they must have all columns")
	flags.BoolVar(&job.adds, "add", false,
		"add the new nodes in the folder or database given in place of GRAPH to the output folder of an earlier "+
			"run with --causal")
	flags.BoolVar(&job.relabels, "relabel", false,
		"set labels (and the split, if given) in such a folder from the .csv file or database given in place of "+
			"GRAPH")
	job.chosen.addTo(cmd, "write to a folder")
	addChoice(cmd, &job.store, "store", []mat.Storage{mat.F32, mat.F16}, "number type of the arrays in a folder")
	flags.StringVarP(&job.out, "output", "o", "",
		"write the arrays to a folder, or the embeddings to a .safetensors `FILE`")
	flags.BoolVar(&job.force, "force", false, "replace a file that contains no embeddings, or a folder with other files")
	addPropagation(cmd, &job.config)
	rule := flags.Lookup("propagation").Value.(*value[propagate.Rule])
	rule.want += " (the hops of sgc are those of SIGN)"
	rule.among = append(rule.among, "sign") // otherwise sage would be suggested for it
	flags.Lookup("hops").Value = &value[int]{
		at: &job.config.Hops, kind: "int", format: strconv.Itoa, want: "an integer K or 0:K, since hop 0 is always written",
		parse: func(text string) (int, error) { return strconv.Atoi(strings.TrimPrefix(text, "0:")) },
	}
	addSetting(flags, &job.config, "propagate over the subgraph of the training nodes")
	addMemory(flags, &job.config)
	addPrecision(cmd, &job.config)
	return cmd
}

// otherFile matches names such as x.npz, which are probably not meant as folders.
var otherFile = regexp.MustCompile(`\.[a-z]+$`)

func (j *propagateJob) run(ctx context.Context, args []string) error {
	if j.out == "" {
		return usagef("propagate needs -o FOLDER: the folder to write, or a .safetensors file")
	}
	if filepath.Ext(j.out) != extension {
		return j.intoFolder(ctx, args)
	}
	return j.intoFile(ctx, args)
}

// intoFolder writes an array for each hop.
func (j *propagateJob) intoFolder(ctx context.Context, args []string) error {
	if otherFile.MatchString(j.out) {
		return usagef("-o %s, must be a folder or end in %s", j.out, extension)
	}
	if j.adds || j.relabels {
		return j.extend(ctx, args[0])
	}
	if j.merge || j.cmd.Flags().Changed("columns") {
		return usagef("-o %s, must be a %s file with --columns and --merge", j.out, extension)
	}
	if err := propagationOf(j.config).Validate(); err != nil {
		return usage{sentence(err)}
	}
	if chosen := j.chosen.String(); j.config.Inductive && chosen != "--part train" {
		return usagef("--inductive with %s, must be with --part train: it propagates over the training nodes", chosen)
	}
	if err := j.chosen.read(); err != nil {
		return err
	}
	if err := j.hopsFree(args[0], j.chosen.only); err != nil {
		return err
	}
	j.unlabelled = true
	return j.hops(ctx, args[0])
}

// intoFile writes the embeddings of the training nodes, computed from a graph or joined from other files.
func (j *propagateJob) intoFile(ctx context.Context, args []string) error {
	flags := j.cmd.Flags()
	if slices.ContainsFunc([]string{"part", "only", "store", "precision"}, flags.Changed) {
		return usagef("--part, --only, --store and --precision with -o %s, must be with a folder: a %s file has the "+
			"training nodes in f32", j.out, extension)
	}
	if err := writable("-o", j.out, extension, j.force, readBy(stored.Read)); err != nil {
		return err
	}
	if err := notInput(j.out, args...); err != nil {
		return err
	}
	if j.merge {
		for _, name := range []string{"columns", "propagation", "hops", "teleport", "normalize-features", "standardize",
			"inductive", "causal", "memory"} {
			if flags.Changed(name) {
				return usagef("--merge with --%s, must be without: the files say what was propagated, and how", name)
			}
		}
		if err := j.unread("--merge"); err != nil {
			return err
		}
		return j.join(ctx, args)
	}
	return j.compute(ctx, args[0])
}

// compute writes the embeddings of a graph.
func (j *propagateJob) compute(ctx context.Context, name string) error {
	if err := propagationOf(j.config).Validate(); err != nil {
		return usage{sentence(err)}
	}
	j.progress.step("opening " + name)
	g, err := j.options().Open(ctx, name)
	if err != nil {
		return err
	}
	if err := condense.Trainable(g); err != nil {
		return err
	}
	lo, hi, err := j.cut(g)
	if err != nil {
		return err
	}
	j.progress.step("propagating")
	origin := stored.Origin{
		Rule: j.config.Propagation, Hops: j.config.Hops, Teleport: j.config.Teleport, Setting: j.config.Setting(),
	}
	f, err := stored.Compute(ctx, blocked.Engine{Memory: j.config.Memory}, origin, g, lo, hi)
	if err != nil {
		return j.limited(err, name)
	}
	if err := j.save(j.out, func() error { return f.Write(ctx, j.out) }); err != nil {
		return err
	}
	return j.tell(f)
}

// limited names the smallest sufficient --memory in the error of a propagation that needs more.
func (j *propagateJob) limited(err error, graph string) error {
	large := new(blocked.MemoryError)
	if !errors.As(err, &large) {
		return err
	}
	return usagef("--memory %s, must be at least %s to propagate %s", inUnitsOf(large.Bound, large.Bound),
		inUnitsOf(large.Bound, large.Need), graph)
}

// propagationOf returns the propagation of a configuration. Teleport is 0 unless the rule is PPR.
func propagationOf(c cgc.Config) propagate.Propagation {
	p := propagate.Propagation{Rule: c.Propagation, Hops: c.Hops}
	if p.Rule == propagate.PPR {
		p.Teleport = c.Teleport
	}
	return p
}

// cut returns the range [lo, hi) of columns that --columns selects.
func (j *propagateJob) cut(g *graph.Graph) (lo, hi int, err error) {
	if j.columns == "" {
		return 0, g.Features(), nil
	}
	first, end, _ := strings.Cut(j.columns, ":")
	lo, errLo := strconv.Atoi(first)
	hi, errHi := strconv.Atoi(end)
	if errLo != nil || errHi != nil || lo < 0 || lo >= hi || hi > g.Features() {
		return 0, 0, usagef("--columns %s, expected LO:HI with 0 ≤ LO < HI ≤ %d, the features of graph %s", j.columns,
			g.Features(), g.Name)
	}
	return lo, hi, nil
}

// join merges embedding files.
func (j *propagateJob) join(ctx context.Context, parts []string) error {
	if err := j.save(j.out, func() error { return stored.Merge(ctx, j.out, parts) }); err != nil {
		return err
	}
	f, err := stored.Read(j.out)
	if err != nil {
		return err
	}
	return j.tell(f)
}

// propagated is what cgc propagate --json prints.
type propagated struct {
	stored.Origin
	Columns  [2]int `json:"columns"`
	Training int    `json:"training_nodes"`
	PeakRSS  int64  `json:"peak_rss"`
	File     string `json:"file"`
}

// tell prints a description of the file that was written.
func (j *propagateJob) tell(f *stored.File) error {
	p := propagated{f.Origin, [2]int{f.Lo, f.Hi}, len(f.Train), peakRSS(), j.out}
	return j.print(p, sentenceDocument("%s: columns %d:%d of %d, hops 0 to %d, %s training nodes of graph %s", j.out, f.Lo,
		f.Hi, f.Features, f.Hops, report.Count(len(f.Train)), f.Origin.Graph))
}

// fromEmbeddings condenses the embeddings in a file. If args has no GRAPH, it condenses only the training nodes, and
// the result refers to the graph from which the file was made.
func (j *condenseJob) fromEmbeddings(ctx context.Context, args []string) error {
	begun := time.Now()
	flags, path := j.config, j.embeddings
	defer memory.Bounded(collected(flags.config.Memory))()
	if _, is := flags.built[0].(cgc.Config); !is {
		return usagef("--embeddings: %s propagates by itself, must be one of cgc's methods", flags.built[0].Name())
	}
	if len(args) == 0 { // before opening the file, because cgc.spark calls this to check only its flags
		if err := j.unread("--embeddings alone"); err != nil {
			return err
		}
	}
	f, err := stored.Open(ctx, path)
	if err != nil {
		return fmt.Errorf("--embeddings: %w", err)
	}
	if err := agrees(f, path, &flags.config); err != nil {
		return err
	}
	engine := stored.Engine{File: f, Memory: cmp.Or(flags.config.Memory, memory.Machine())}
	var g *graph.Graph
	if len(args) > 0 {
		if g, _, err = j.read(ctx, args[0]); err != nil {
			return err
		}
		if err := f.Check(g); err != nil {
			return fmt.Errorf("--embeddings %s: %w", path, err)
		}
	} else if g, err = alone(ctx, f, path, &flags.config); err != nil {
		return err
	}
	j.setDefaults(flags, g)
	flags.config.Engine = engine
	seconds := time.Since(begun).Seconds()
	j.progress.step("condensing")
	small, err := flags.condense(ctx, g)
	if err != nil {
		return flags.mistake(err)
	}
	if len(args) == 0 {
		adopt(small, f)
	}
	r, err := j.write(ctx, j.out, g, small, seconds)
	if err != nil {
		return err
	}
	r.Nodes, r.Edges = f.Nodes, int(f.Edges)
	r.Kept = 0 // measured only while the graph was read
	j.warn(r.Warnings)
	return j.print(r, r.document())
}

// agrees returns an error if the file was computed with settings that differ from config.
func agrees(f *stored.File, path string, config *cgc.Config) error {
	if config.NormalizeFeatures != f.NormalizeFeatures {
		return usagef("--embeddings %s was computed with --normalize-features=%v, must be the same here", path,
			f.NormalizeFeatures)
	}
	if config.Standardize != f.Standardize || config.Inductive != f.Inductive || config.Causal != f.Causal {
		return usagef("--embeddings %s was computed with --standardize=%v --inductive=%v --causal=%v, must be the same here",
			path, f.Standardize, f.Inductive, f.Causal)
	}
	if propagationOf(*config) != f.Propagation() {
		teleport := ""
		if f.Rule == propagate.PPR {
			teleport = fmt.Sprintf(" --teleport %v", f.Teleport)
		}
		return usagef("--embeddings %s was computed with --propagation %s --hops %d%s, must be the same here",
			path, f.Rule, f.Hops, teleport)
	}
	if config.Precision != blocked.Float32 {
		return usagef("--precision %s with --embeddings %s, expected %s: the file has been computed with it",
			config.Precision,
			path, blocked.Float32)
	}
	if f.Lo != 0 || f.Hi != f.Features {
		return usagef("--embeddings %s has the columns %d:%d of %d, must have all (cgc propagate --merge)",
			path, f.Lo, f.Hi, f.Features)
	}
	return nil
}

// alone returns the training nodes of the file as a graph, and adapts config because the other nodes are missing.
func alone(ctx context.Context, f *stored.File, path string, config *cgc.Config) (*graph.Graph, error) {
	g, err := f.Graph(ctx)
	if err != nil {
		return nil, fmt.Errorf("--embeddings %s: %w", path, err)
	}
	if config.Size.Ratio > 0 && !config.Inductive { // the ratio refers to all nodes, most of which g lacks
		config.Size = condense.Size{Nodes: max(1, int(math.Round(config.Size.Ratio*float64(f.Nodes))))}
	}
	return g, nil
}

// adopt changes small, which was condensed from the training nodes only, to refer to the full graph of f.
func adopt(small *condense.Condensed, f *stored.File) {
	small.GraphNodes, small.Source = f.Nodes, nil
	if f.Source != nil { // the digest is still right, because all source nodes are training nodes
		small.Source = &condense.Source{Digest: *f.Source}
	}
	if small.Members == nil {
		return
	}
	m := *small.Members
	m.Cols, m.Indices = f.Nodes, mapped(m.Indices, func(v int32) int32 { return f.Train[v] })
	small.Members = &m
}

// workerCommand returns the hidden command that a cluster starts on its machines.
func (c *command) workerCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "worker -o FILE",
		Short:   "Run one task of a cluster, read from standard input",
		Example: examples("cgc worker -o part.safetensors"),
		Hidden:  true,
		Args:    arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return usagef("worker needs -o FILE: the file to write")
			}
			return cluster.Run(cmd.Context(), os.Stdin, os.Stdout, out)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the result to `FILE`")
	return cmd
}
