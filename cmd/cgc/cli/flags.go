package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/judge"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// sizes lists the flags for the number of condensed nodes. At most one of them may be given.
var sizes = []string{"nodes", "ratio", "ratios", "label-ratio", "label-ratios"}

type configFlags struct {
	// config holds the size, the setting and the seed for any method, and the parameters of cgc's methods.
	config cgc.Config
	// names are the chosen methods, at least one.
	names []string
	// lossless is the parameter of auto, or 0.
	lossless float64
	// params are parameters of other packages' methods.
	params params
	// file is the configuration file to start from, and fileMethod is the method that it names; both may be "".
	file, fileMethod string
	// fileSize says that the file sets the size, which then overrides the sizes of settings.
	fileSize bool
	flags    *pflag.FlagSet
	// own are the names of the flags that only cgc's methods read. instead are those that selected cgc in place of auto.
	own, instead []string

	built    []condense.Method // the chosen methods, before setting and limits are applied
	training *trainingFile     // training settings of the file, or nil
}

// newMethodFlags adds to cmd the flags for condensing with any registered method; auto is the default.
func newMethodFlags(cmd *cobra.Command) *configFlags {
	return methodFlags(cmd, condense.Names(), auto.New().Name(),
		"auto chooses the best on the validation nodes, or cgc if a flag sets a parameter of cgc")
}

// methodFlags adds the flags of newMethodFlags for the given methods and default. about is a clause for the help.
func methodFlags(cmd *cobra.Command, methods []string, method, about string) *configFlags {
	f := &configFlags{config: cgc.Defaults(), flags: cmd.Flags(), names: []string{method}}
	f.addSize()
	addChoice(cmd, &f.names[0], "method", methods, "condensation method; "+about)
	f.addParams()
	f.addRest(cmd)
	return f
}

// addSize adds the flags for a single size.
func (f *configFlags) addSize() {
	c, flags := &f.config, f.flags
	flags.IntVar(&c.Nodes, "nodes", 0,
		"number of condensed nodes (default 10 per class, but at most half of the training nodes)")
	flags.Var(share(&c.Ratio), "ratio",
		"number of condensed nodes as a fraction of all nodes (of the training nodes with --inductive): "+
			"2.6% or 0.026")
	flags.Var(share(&c.LabelRatio), "label-ratio",
		"number of condensed nodes as a fraction of the training nodes: 50% or 0.5")
}

// addParams adds the flags for the parameters of other packages' methods.
func (f *configFlags) addParams() {
	f.flags.Var(&f.params, "param",
		"set a parameter of a baseline, as `KEY=VALUE` or METHOD.KEY=VALUE; may be repeated")
	f.flags.StringVar(&f.params.file, "params", "",
		"read parameters of baselines from the JSON object in `FILE`; --param overrides it")
}

// addRest adds the flags for the setting, the seed and the parameters of cgc's methods.
func (f *configFlags) addRest(cmd *cobra.Command) {
	c, flags := &f.config, f.flags
	flags.SortFlags = false
	addSetting(flags, c,
		"inductive setting: condense the subgraph of the training nodes, test on the subgraph of the test nodes")
	flags.Uint64Var(&c.Seed, "seed", c.Seed, "random seed")
	flags.StringVar(&f.file, "config", "",
		"start from the configuration in `FILE`: JSON as cgc tune writes it, or a condensed graph; flags override it")
	before := map[string]bool{}
	flags.VisitAll(func(flag *pflag.Flag) { before[flag.Name] = true })
	f.addParameters(cmd)
	flags.VisitAll(func(flag *pflag.Flag) {
		if !before[flag.Name] {
			f.own = append(f.own, flag.Name)
		}
	})
}

// addSetting adds the flags for the fields of condense.Setting. inductive is the help text of --inductive.
func addSetting(flags *pflag.FlagSet, c *cgc.Config, inductive string) {
	addNormalize(flags, &c.NormalizeFeatures)
	flags.BoolVar(&c.Standardize, "standardize", c.Standardize,
		"scale each feature to mean 0 and variance 1 over the training nodes")
	flags.BoolVar(&c.Inductive, "inductive", c.Inductive, inductive)
	flags.BoolVar(&c.Causal, "causal", c.Causal,
		"each node sees only neighbours that arrived before it; nodes must be in the order of their arrival")
}

func addNormalize(flags *pflag.FlagSet, at *bool) {
	flags.BoolVar(at, "normalize-features", false,
		"row-normalise the features: divide those of each node by the sum of their absolute values")
}

func addPropagation(cmd *cobra.Command, c *cgc.Config) {
	addChoice(cmd, &c.Propagation, "propagation", propagate.Rules(), "how features are propagated over the graph")
	cmd.Flags().IntVar(&c.Hops, "hops", c.Hops, "number of propagation steps")
	cmd.Flags().Float64Var(&c.Teleport, "teleport", c.Teleport, "teleport probability of --propagation ppr")
}

func addMemory(flags *pflag.FlagSet, c *cgc.Config) {
	flags.Var(size(&c.Memory), "memory",
		"memory limit for the graph and its propagation, such as 2GiB or 500MB; propagation is then slower "+
			"(default none)")
}

// addParameters adds the flags that only cgc's methods read.
func (f *configFlags) addParameters(cmd *cobra.Command) {
	c, flags := &f.config, f.flags
	addChoice(cmd, &c.Partition, "partition", partition.Names(), "how the training nodes of a class are clustered")
	addPropagation(cmd, c)
	flags.Float64Var(&c.Augment, "augment", c.Augment,
		"number of extra embeddings, taken after fewer hops, as a multiple of the training nodes; 0 adds none")
	flags.Var(temperature(&c.Temperature), "temperature",
		"softmax temperature of the confidence weights within a group; inf gives uniform weights")
	flags.Float64Var(&c.Threshold, "threshold", c.Threshold,
		"cosine similarity above which two condensed nodes are connected, -1 to 1")
	flags.Float64Var(&c.Degree, "degree", c.Degree,
		"maximum mean degree of the condensed graph: --threshold is raised until it holds; 0 sets no maximum")
	flags.Float64Var(&c.Alpha, "alpha", c.Alpha,
		"weight of the smoothness of the condensed features over the condensed edges")
	addMemory(flags, c)
	addPrecision(cmd, c)
}

func addPrecision(cmd *cobra.Command, c *cgc.Config) {
	addChoice(cmd, &c.Precision, "precision", blocked.Precisions(),
		"precision of the features between hops; half is faster on large graphs but less exact")
}

// read reads the files named on the command line, and checks everything that does not depend on the graph.
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
		return usagef("%s exclude each other: give one of them", strings.Join(given, " and "))
	case f.config.Nodes < 1 && f.flags.Changed("nodes") && f.flags.Lookup("nodes").Value.Type() == "int":
		return usagef("--nodes %d, must be at least 1", f.config.Nodes)
	}
	f.settle()
	config := f.config
	if f.sizeless() {
		config.Nodes = 1
	}
	if err := config.Validate(); err != nil {
		return usage{sentence(f.mistake(err))}
	}
	if !f.reads(f.fileMethod) {
		return usagef("--config %s configures the method %s, must configure %s", f.file, f.fileMethod,
			strings.Join(f.names, " or "))
	}
	if err := f.build(); err != nil {
		return err
	}
	flag := f.flags.Lookup("lossless")
	for _, m := range f.built {
		m, chooses := m.(auto.Method)
		if chooses && !f.flags.Changed("lossless") {
			f.lossless = m.Lossless
		}
		switch {
		case !(f.lossless >= 0 && f.lossless <= 100):
			return usagef("%s %v, must be 0 to 100 points", f.nameOf("lossless"), f.lossless)
		case f.lossless > 0 && flag == nil:
			return usagef("lossless %v, must be 0: only cgc condense chooses the size", f.lossless)
		case f.lossless > 0 && !chooses:
			return usagef("--lossless with method %s, must be with auto", f.names[0])
		}
	}
	return nil
}

// readMethod reads f, and notes that flags select cgc instead of auto.
func (c *command) readMethod(f *configFlags) error {
	err := f.read()
	if verb := "selects"; err == nil && len(f.instead) > 0 {
		if len(f.instead) > 1 {
			verb = "select"
		}
		c.warn([]string{c.settings.name(fmt.Sprintf("%s %s cgc instead of auto", strings.Join(f.instead, " and "), verb))})
	}
	return err
}

// settle replaces the method auto with cgc if no method was named but --embeddings or a parameter of cgc was given.
func (f *configFlags) settle() {
	if !f.unasked() {
		return
	}
	var given []string
	for _, name := range f.own {
		flag := f.flags.Lookup(name)
		if !slices.Contains(common, name) && (flag.Changed || flag.Value.String() != flag.DefValue) {
			given = append(given, "--"+name)
		}
	}
	implied := f.flags.Changed("embeddings") || f.file != "" // the file configures cgc
	if implied || len(given) > 0 {
		f.names[0] = cgc.Defaults().Name()
	}
	if !implied {
		f.instead = given
	}
}

// idle returns a note for each flag that does not affect the chosen methods.
func (f *configFlags) idle() (notes []string) {
	var methods []string
	for _, m := range f.methods() {
		if config, is := m.(cgc.Config); is {
			methods = append(methods, config.Name())
		}
	}
	for _, name := range f.own {
		switch reads := func(method string) bool { return cgc.Variant(method).Reads(name) }; {
		case len(methods) == 0 || !f.flags.Changed(name):
		case !slices.ContainsFunc(methods, reads):
			notes = append(notes, fmt.Sprintf("--%s has no effect on %s", name, strings.Join(methods, " and ")))
		case name == "teleport" && f.config.Propagation != propagate.PPR:
			notes = append(notes, fmt.Sprintf("--%s has no effect on --propagation %s", name, f.config.Propagation))
		}
	}
	return notes
}

// unasked reports whether the method is auto because no method was named.
func (f *configFlags) unasked() bool {
	return len(f.names) == 1 && f.names[0] == auto.New().Name() && f.fileMethod == "" && !f.flags.Changed("method") &&
		!f.flags.Changed("methods")
}

// chooses reports whether auto is one of the chosen methods.
func (f *configFlags) chooses() bool { return slices.Contains(f.names, auto.New().Name()) }

// common lists the flags of cgc that auto reads too.
var common = []string{"memory", "precision"}

// setsAuto reports whether a parameter of auto, by its JSON key, is a flag that --param cannot set.
func setsAuto(key string) bool {
	return slices.Contains(common, key) || slices.Contains(keysOfType(reflect.TypeFor[condense.Setting]()), key)
}

// readFile reads the configuration file, and then reapplies the command line, which overrides it.
func (f *configFlags) readFile() error {
	text, err := configText(f.file)
	if err != nil {
		return fmt.Errorf("--config %w", err)
	}
	said := map[string]string{}
	f.flags.Visit(func(flag *pflag.Flag) {
		if flag.Value != &f.params { // setting --param again would append
			said[flag.Name] = flag.Value.String()
		}
	})
	method := f.names[0]
	if f.unasked() {
		method = f.config.Name() // for files without a method
	}
	file, err := decodeConfig(text, f.config, method)
	if err != nil {
		return fmt.Errorf("--config %s: %w", f.file, err)
	}
	named := f.flags.Changed("method") || f.flags.Changed("methods")
	if named && file.method == auto.New().Name() && !slices.Contains(f.names, file.method) {
		file.method, file.parameters = "", nil // --method replaces the choice of auto
	}
	if f.fileSize = !file.Size.IsZero(); !f.fileSize {
		file.Size = f.config.Size
	}
	f.config, f.training, f.fileMethod = file.Config, file.Training, file.method
	for key, value := range file.parameters { // other parameters take precedence
		f.params.list = slices.Insert(f.params.list, 0, param{file.method, key, value, true})
	}
	if file.method != "" && !named {
		f.names = append(f.names[:0], file.method)
	}
	for _, name := range sizes {
		if _, is := said[name]; is {
			f.config.Size, f.fileSize = condense.Size{}, false
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

// setDefaults sets a missing size to the default for g, and prints the reasons and the flags without effect.
func (c *command) setDefaults(f *configFlags, g *graph.Graph) {
	c.warn(f.idle())
	switch {
	case !f.sizeless():
	case f.lossless > 0:
		f.config.Nodes = min(len(g.Split.Train), judge.MostNodes)
	default:
		defaults, why := cgc.DefaultsFor(g)
		f.config.Nodes = defaults.Nodes
		for _, r := range why {
			c.progress.note("%s (set --nodes, --ratio or --label-ratio to change it)", r.Text)
		}
	}
}

// mistake rewords err to name the flag or the file that set each offending parameter.
func (f *configFlags) mistake(err error) error { return outOfRange(err, f.nameOf) }

// nameOf returns what users call a parameter: a flag, a key of --param or a key of the file.
func (f *configFlags) nameOf(field string) string {
	key := strings.ReplaceAll(field, " ", "_")
	for _, one := range slices.Backward(f.params.list) { // the last one overrides the others
		switch {
		case one.key == key && one.fromConfig:
			return "--config " + f.file + ": " + field
		case one.key == key:
			return "--param " + key
		}
	}
	flag := f.flags.Lookup(strings.ReplaceAll(field, " ", "-"))
	if flag == nil {
		flag = f.flags.Lookup(strings.ReplaceAll(field, " ", "-") + "s") // the plural, for lists
	}
	switch {
	case flag == nil, slices.Contains(f.own, flag.Name) && !f.ofCGC() && !(f.chooses() && setsAuto(key)):
		return "--param " + key
	case f.file != "" && !flag.Changed:
		return "--config " + f.file + ": " + field
	}
	return "--" + flag.Name
}

// axes holds the flags for the sizes of an experiment. At most one of them may be given.
type axes struct {
	nodes               []int
	ratios, labelRatios []float64
}

// newAxes adds the condensation flags to cmd. The method and size flags accept lists.
func newAxes(cmd *cobra.Command) (*axes, *configFlags) {
	f := &configFlags{config: cgc.Defaults(), flags: cmd.Flags(), names: []string{cgc.Defaults().Name()}}
	a := new(axes)
	addSome(cmd, &f.names, "methods", condense.Names(),
		"methods to compare (the first with each of the others), or all")
	flags := cmd.Flags()
	flags.Var(distinct(&a.nodes, nodesOf, "ints", "integers of at least 1"), "nodes",
		"numbers of condensed nodes, such as `35,70,140` (default 10 per class, but at most half of the training nodes)")
	const shares = "fractions above 0 and at most 1, or percentages as in 1.3%,2.6%"
	flags.Var(distinct(&a.ratios, parseShare, "floats", shares), "ratios",
		"numbers of condensed nodes as fractions of all nodes (of the training nodes with --inductive), "+
			"such as `1.3%,2.6%`")
	flags.Var(distinct(&a.labelRatios, parseShare, "floats", shares), "label-ratios",
		"numbers of condensed nodes as fractions of the training nodes, such as `25%,50%`")
	f.addParams()
	f.addRest(cmd)
	return a, f
}

func nodesOf(word string) (int, error) {
	n, err := strconv.Atoi(word)
	return accepted(n, err, n >= 1)
}

// sizes returns the sizes in the order of the flags nodes, ratio and label-ratio; at most one of these is set.
func (a *axes) sizes() []condense.Size {
	return slices.Concat(
		mapped(a.nodes, func(n int) condense.Size { return condense.Size{Nodes: n} }),
		mapped(a.ratios, func(r float64) condense.Size { return condense.Size{Ratio: r} }),
		mapped(a.labelRatios, func(r float64) condense.Size { return condense.Size{LabelRatio: r} }),
	)
}
