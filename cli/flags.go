package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
)

// sizes are the flags for N′. At most one of them may be given.
var sizes = []string{"nodes", "ratio", "ratios", "label-ratio", "label-ratios"}

// configFlags is the part of a command line that says how a graph is condensed.
type configFlags struct {
	// config has the size, the setting and the seed of any method, and the parameters of cgc's methods.
	config cgc.Config
	// names are the methods that are asked for; none means that of config.
	names []string
	// params are parameters of methods of other packages.
	params params
	// file is the path of a file to start from, fileMethod the method that it names; "" if there is none.
	file, fileMethod string
	flags            *pflag.FlagSet
	// own are the names of the flags that only cgc's methods read.
	own []string

	training *trainingFile // what the file says of training; nil if nothing
}

// newConfigFlags gives cmd the flags of a condensation by one of cgc's methods.
func newConfigFlags(cmd *cobra.Command) *configFlags {
	f := &configFlags{config: cgc.Defaults(), flags: cmd.Flags()}
	f.addSize()
	addChoice(cmd, &f.config.Variant, "method", cgc.Variants(), methodUsage)
	f.addRest(cmd)
	return f
}

// newMethodFlags gives cmd the flags of a condensation by any registered method.
func newMethodFlags(cmd *cobra.Command) *configFlags {
	f := &configFlags{config: cgc.Defaults(), flags: cmd.Flags()}
	f.names = []string{f.config.Name()}
	f.addSize()
	addChoice(cmd, &f.names[0], "method", condense.Names(), methodUsage)
	f.addParams()
	f.addRest(cmd)
	return f
}

const methodUsage = "method that condenses the graph"

// addSize adds the flags of one size.
func (f *configFlags) addSize() {
	c, flags := &f.config, f.flags
	flags.IntVar(&c.Nodes, "nodes", 0, "number of condensed nodes (default 10 for each class)")
	flags.Var((*share)(&c.Ratio), "ratio",
		"the same as a share of all nodes (of the training nodes with --inductive): 2.6% or 0.026")
	flags.Var((*share)(&c.LabelRatio), "label-ratio", "the same as a share of the training nodes: 50% or 0.5")
}

// addParams adds the flags for the parameters of methods of other packages.
func (f *configFlags) addParams() {
	f.flags.Var(&f.params, "param",
		"set a parameter of a method that is not cgc's own, as `KEY=VALUE` or METHOD.KEY=VALUE; may be repeated")
	f.flags.StringVar(&f.params.file, "params", "",
		"read such parameters from the JSON object in `FILE`; --param overrules it")
}

// addRest adds the setting, the seed and the parameters of cgc's methods.
func (f *configFlags) addRest(cmd *cobra.Command) {
	c, flags := &f.config, f.flags
	flags.SortFlags = false
	flags.BoolVar(&c.NormalizeFeatures, "normalize-features", c.NormalizeFeatures,
		"first divide the features of each node by the sum of their absolute values")
	flags.BoolVar(&c.Standardize, "standardize", c.Standardize, "scale each feature to mean 0 and variance 1")
	flags.BoolVar(&c.Inductive, "inductive", c.Inductive,
		"condense the subgraph of the training nodes, test on that of the test nodes")
	flags.Uint64Var(&c.Seed, "seed", c.Seed, "decides all random choices")
	flags.StringVar(&f.file, "config", "",
		"start from the JSON in `FILE`, as in the \"config\" of --json; flags overrule it")
	before := map[string]bool{}
	flags.VisitAll(func(flag *pflag.Flag) { before[flag.Name] = true })
	f.addParameters(cmd)
	flags.VisitAll(func(flag *pflag.Flag) {
		if !before[flag.Name] {
			f.own = append(f.own, flag.Name)
		}
	})
}

// addParameters adds the flags that only cgc's methods read.
func (f *configFlags) addParameters(cmd *cobra.Command) {
	c, flags := &f.config, f.flags
	addChoice(cmd, &c.Partition, "partition", partition.Names(), "how the nodes of a class are split into groups")
	flags.IntVar(&c.Partitions, "partitions", c.Partitions,
		"number of times each class is split; the best split is kept")
	addChoice(cmd, &c.Propagation, "propagation", propagate.Rules(), "how features spread over the graph")
	flags.IntVar(&c.Hops, "hops", c.Hops, "number of propagations")
	flags.Var((*hopWeights)(&c.HopWeights), "hop-weights",
		"condense a mixture of the hops 0 to --hops, as 0.2,0.3,0.5 (default the last hop alone)")
	flags.Float64Var(&c.Teleport, "teleport", c.Teleport,
		"share of a node's own features in each hop of --propagation ppr")
	flags.Float64Var(&c.Augment, "augment", c.Augment,
		"embeddings of fewer hops to add, as a multiple of the training nodes; 0 for none")
	flags.Float64Var(&c.PseudoLabels, "pseudo-labels", c.PseudoLabels,
		"nodes to add whose class a linear model predicts, as a multiple of the training nodes; 0 for none")
	flags.BoolVar(&c.SoftLabels, "soft-labels", c.SoftLabels,
		"label condensed nodes with a distribution over the classes, not with one class")
	flags.Var((*temperature)(&c.Temperature), "temperature",
		"how much confidence counts in the weights of a group: much if low, not at all if inf")
	addChoice(cmd, &c.Edges, "edges", cgc.EdgeKinds(),
		"condensed nodes are joined by likeness, or by the graph's own edges")
	flags.Float64Var(&c.Threshold, "threshold", c.Threshold, "cosine above which condensed nodes are joined, -1 to 1")
	flags.Float64Var(&c.Degree, "degree", c.Degree,
		"largest mean degree of the condensed graph; the threshold rises to keep it; 0 for no bound")
	flags.Float64Var(&c.Alpha, "alpha", c.Alpha, "smoothness of the condensed features over the condensed edges")
	flags.Var((*size)(&c.Memory), "memory",
		"bound on the memory of the graph and its propagation, as 2GiB or 500MB; slower (default none)")
	flags.Var((*precision)(&c.Precision), "precision",
		"numbers between hops; half is faster on large graphs, and less exact: "+joinWords(precisions(), ", "))
	completion(cmd, "precision", precisions())
}

// read reads the files that the command line names, and checks all that does not depend on the graph.
func (f *configFlags) read() error {
	if err := f.params.readFile(); err != nil {
		return err
	}
	if f.file != "" {
		if err := f.readFile(); err != nil {
			return err
		}
	}
	var given []string
	for _, name := range sizes {
		if f.flags.Changed(name) {
			given = append(given, "--"+name)
		}
	}
	switch {
	case len(given) > 1:
		return usagef("%s given, want at most one of them", strings.Join(given, " and "))
	case f.config.Nodes < 1 && f.flags.Changed("nodes") && f.flags.Lookup("nodes").Value.Type() == "int":
		return usagef("--nodes %d, want at least 1", f.config.Nodes)
	}
	config := f.config
	if f.sizeless() {
		config.Nodes = 1
	}
	if err := config.Validate(); err != nil {
		return usage{sentence(f.mistake(err))}
	}
	if !f.reads(f.fileMethod) {
		return usagef("--config %s is of method %s, want it for --method too", f.file, f.fileMethod)
	}
	_, err := f.methods()
	return err
}

// readFile reads the configuration from the file, and then sets again what the command line says.
func (f *configFlags) readFile() error {
	text, err := os.ReadFile(f.file)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	said := map[string]string{}
	f.flags.Visit(func(flag *pflag.Flag) {
		if flag.Value != &f.params { // it would be set twice
			said[flag.Name] = flag.Value.String()
		}
	})
	file, err := decodeConfig(text, f.config, f.asked()[0])
	if err != nil {
		return fmt.Errorf("--config %s: %w", f.file, err)
	}
	f.config, f.training, f.fileMethod = file.Config, file.Training, file.method
	for key, value := range file.parameters {
		f.params.underlie(file.method, key, value)
	}
	if file.method != "" && len(f.names) > 0 && !f.flags.Changed("method") && !f.flags.Changed("methods") {
		f.names = append(f.names[:0], file.method)
	}
	for _, name := range sizes {
		if _, is := said[name]; is {
			f.config.Size = condense.Size{}
		}
	}
	for name, value := range said {
		if err := f.flags.Lookup(name).Value.Set(value); err != nil {
			return fmt.Errorf("--%s %s: %w", name, value, err)
		}
	}
	return nil
}

func (f *configFlags) sizeless() bool { return f.config.Size.IsZero() }

// defaultsFor fills in the size by the defaults for g, if nothing says it, and returns the reasons.
func (f *configFlags) defaultsFor(g *graph.Graph) (reasons []string) {
	if !f.sizeless() {
		return nil
	}
	defaults, why := cgc.DefaultsFor(g)
	f.config.Nodes = defaults.Nodes
	for _, r := range why {
		reasons = append(reasons, r.Text+" (--nodes, --ratio or --label-ratio say otherwise)")
	}
	return reasons
}

// mistake names the flag, or the file, of each parameter that err is about.
func (f *configFlags) mistake(err error) error { return outOfRange(err, f.nameOf) }

// nameOf returns what the user calls a parameter: a flag, a key of --param or a key of the file.
func (f *configFlags) nameOf(field string) string {
	key := strings.ReplaceAll(field, " ", "_")
	if f.params.has(key) {
		return "--param " + key
	}
	flag := f.flags.Lookup(strings.ReplaceAll(field, " ", "-"))
	if flag == nil {
		flag = f.flags.Lookup(strings.ReplaceAll(field, " ", "-") + "s") // a list of it
	}
	switch {
	case flag == nil, slices.Contains(f.own, flag.Name) && !f.ofCGC():
		return "--param " + key
	case f.file != "" && !flag.Changed:
		return "--config " + f.file + ": " + field
	}
	return "--" + flag.Name
}
