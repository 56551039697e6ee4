package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
)

// sizes are the flags of which one at most says N′.
var sizes = []string{"nodes", "ratio", "ratios", "label-ratio", "label-ratios"}

// configFlags is the part of a command line that makes a cgc.Config.
type configFlags struct {
	config cgc.Config
	file   string
	flags  *pflag.FlagSet

	training *trainingFile // what the file says of training; nil if nothing
}

// newConfigFlags gives cmd the flags of a condensation.
func newConfigFlags(cmd *cobra.Command) *configFlags {
	f := &configFlags{config: cgc.Defaults(), flags: cmd.Flags()}
	c, flags := &f.config, f.flags
	flags.IntVar(&c.Nodes, "nodes", 0, "number of condensed nodes (default 10 for each class)")
	flags.Var((*share)(&c.Ratio), "ratio", "the same as a share of all nodes (of the training nodes with --inductive): 2.6% or 0.026")
	flags.Var((*share)(&c.LabelRatio), "label-ratio", "the same as a share of the training nodes: 50% or 0.5")
	addChoice(cmd, &c.Variant, "method", cgc.Variants(), "cgc makes a graph, cgc-x nodes only, simdm is the simplest form")
	f.addRest(cmd)
	return f
}

// addRest gives cmd the flags of a condensation but for its size and its method.
func (f *configFlags) addRest(cmd *cobra.Command) {
	c, flags := &f.config, f.flags
	flags.SortFlags = false
	addChoice(cmd, &c.Partition, "partition", partition.Names(), "how the nodes of a class are split into groups")
	flags.IntVar(&c.Partitions, "partitions", c.Partitions, "number of partitions of each class, of which the best is kept by objective and balance")
	addChoice(cmd, &c.Propagation, "propagation", propagate.Rules(), "how features are propagated over the graph")
	flags.IntVar(&c.Hops, "hops", c.Hops, "number of propagations")
	flags.Var((*hopWeights)(&c.HopWeights), "hop-weights", "condense a mixture of the hops 0 to --hops, as 0.2,0.3,0.5 (default the last alone)")
	flags.Float64Var(&c.Teleport, "teleport", c.Teleport, "share of a node's own features in each hop of --propagation ppr")
	flags.Float64Var(&c.Augment, "augment", c.Augment, "embeddings of fewer hops to add, as a multiple of the training nodes; 0 for none")
	flags.Float64Var(&c.PseudoLabels, "pseudo-labels", c.PseudoLabels, "nodes without a training label to add, with the class a linear model is surest of, as a multiple of the training nodes; 0 for none")
	flags.BoolVar(&c.SoftLabels, "soft-labels", c.SoftLabels, "give condensed nodes a distribution over the classes to learn, in place of one class")
	flags.Var((*temperature)(&c.Temperature), "temperature", "how far confidence decides the weights in a group: low, much; inf, not at all")
	addChoice(cmd, &c.Edges, "edges", cgc.EdgeKinds(), "what joins condensed nodes, likeness or the graph's own edges")
	flags.Float64Var(&c.Threshold, "threshold", c.Threshold, "cosine above which condensed nodes are joined, -1 to 1")
	flags.Float64Var(&c.Degree, "degree", c.Degree, "largest mean degree of the condensed graph, for which the threshold is raised; 0 for no bound")
	flags.Float64Var(&c.Alpha, "alpha", c.Alpha, "smoothness of the condensed features over the condensed edges")
	flags.BoolVar(&c.Standardize, "standardize", c.Standardize, "scale each feature to mean 0 and variance 1 first")
	flags.BoolVar(&c.Inductive, "inductive", c.Inductive, "condense the subgraph of the training nodes, test on that of the test nodes")
	flags.Var((*size)(&c.Memory), "memory", "bound on what the graph and its propagation take, as 2GiB or 500MB; slower (default none)")
	flags.Uint64Var(&c.Seed, "seed", c.Seed, "decides all random choices")
	flags.StringVar(&f.file, "config", "", "start from the JSON in `FILE`, as in the \"config\" of --json; flags go first")
}

// read finishes what parsing began: it reads the file that the flags amend, and checks all but the size, which depends on the graph.
func (f *configFlags) read() error {
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
		return usagef("%s given, want one of them at most", strings.Join(given, " and "))
	case f.flags.Changed("nodes") && f.config.Nodes < 1:
		return usagef("--nodes %d, want at least 1", f.config.Nodes)
	}
	config := f.config
	if f.sizeless() {
		config.Nodes = 1
	}
	return f.mistake(config.Validate())
}

// readFile reads the configuration from the file and then sets again what the command line says.
func (f *configFlags) readFile() error {
	text, err := os.ReadFile(f.file)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	said := map[string]string{}
	f.flags.Visit(func(flag *pflag.Flag) { said[flag.Name] = flag.Value.String() })
	file, err := decodeConfig(text)
	if err != nil {
		return fmt.Errorf("--config %s: %w", f.file, err)
	}
	config := file.Config
	for _, name := range sizes {
		if _, is := said[name]; is {
			config.Nodes, config.Ratio, config.LabelRatio = 0, 0, 0
		}
	}
	f.config, f.training = config, file.Training
	for name, value := range said {
		if err := f.flags.Lookup(name).Value.Set(value); err != nil {
			return fmt.Errorf("--%s %s: %w", name, value, err)
		}
	}
	return nil
}

func (f *configFlags) sizeless() bool {
	return f.config.Nodes == 0 && f.config.Ratio == 0 && f.config.LabelRatio == 0
}

// mistake names the flag or the file that err is about.
func (f *configFlags) mistake(err error) error { return configMistake(err, f.flags, f.file) }

// defaultsFor takes from the defaults for g what neither the command line nor a file says, and returns the reasons.
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

// share is a flag of a part of a whole, in percent or plain.
type share float64

// Set reads the value from the command line.
func (s *share) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v <= 1) {
		return errors.New(s.want())
	}
	*s = share(v)
	return nil
}

// String writes the value as Set reads it.
func (s *share) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*s), 'g', -1, 64)
}

// Type is the word for the value in the command's help.
func (s *share) Type() string { return "share" }
func (s *share) want() string { return "a share above 0 and at most 1, or a percentage as in 2.6%" }

// hopWeights is the flag of cgc.HopWeights: numbers between commas. Nothing between them is no weights.
type hopWeights cgc.HopWeights

// Set reads the value from the command line.
func (w *hopWeights) Set(text string) error {
	var read hopWeights
	for field := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil {
			return errors.New(w.want())
		}
		read = append(read, v)
	}
	*w = read
	return nil
}

// String writes the value as Set reads it.
func (w *hopWeights) String() string { return cgc.HopWeights(*w).String() }

// Type is the word for the value in the command's help.
func (w *hopWeights) Type() string { return "number,…" }
func (w *hopWeights) want() string { return "numbers as in 0.2,0.3,0.5" }

// temperature is the flag of a cgc.Temperature.
type temperature cgc.Temperature

// Set reads the value from the command line.
func (t *temperature) Set(text string) error {
	v, err := cgc.ParseTemperature(text)
	if err != nil {
		return errors.New(t.want())
	}
	*t = temperature(v)
	return nil
}

// String writes the value as Set reads it.
func (t *temperature) String() string { return cgc.Temperature(*t).String() }

// Type is the word for the value in the command's help.
func (t *temperature) Type() string { return "number|inf" }
func (t *temperature) want() string { return "a number above 0 or inf" }

// choice is a flag with a few possible words.
type choice[T ~string] struct {
	value *T
	among []T
}

func addChoice[T ~string](cmd *cobra.Command, value *T, name string, among []T, usage string) {
	c := choice[T]{value, among}
	cmd.Flags().Var(c, name, usage+": "+c.words(", "))
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return strings.Fields(c.words(" ")), cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic(err) // the flag was added above
	}
}

// Set reads the value from the command line.
func (c choice[T]) Set(text string) error {
	if !slices.Contains(c.among, T(text)) {
		return errors.New(c.want())
	}
	*c.value = T(text)
	return nil
}

// String writes the value as Set reads it.
func (c choice[T]) String() string { return string(*c.value) }

// Type is the word for the value in the command's help.
func (c choice[T]) Type() string { return "word" }
func (c choice[T]) want() string { return "one of " + c.words(", ") }

func (c choice[T]) words(separator string) string {
	words := make([]string, len(c.among))
	for i, w := range c.among {
		words[i] = string(w)
	}
	return strings.Join(words, separator)
}
