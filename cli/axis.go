package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
)

// axis is a flag of several values of one field of a configuration, separated by commas. The field itself gets the first.
type axis[T comparable] struct {
	values []T
	field  *T
	parse  func(text string) (T, error)
	show   func(T) string
	wanted string
}

// Set reads the values from the command line.
func (a *axis[T]) Set(text string) error {
	a.values = nil
	for word := range strings.SplitSeq(text, ",") {
		v, err := a.parse(strings.TrimSpace(word))
		if err != nil {
			return errors.New(a.wanted)
		}
		if !slices.Contains(a.values, v) {
			a.values = append(a.values, v)
		}
	}
	*a.field = a.values[0]
	return nil
}

// String writes the values as Set reads them.
func (a *axis[T]) String() string {
	var words []string
	for _, v := range a.values {
		words = append(words, a.show(v))
	}
	return strings.Join(words, ",")
}

// Type is the word for the value in the command's help.
func (a *axis[T]) Type() string { return "list" }
func (a *axis[T]) want() string { return a.wanted }

// axes are the flags that span the arms of an experiment.
type axes struct {
	methods             axis[cgc.Variant]
	nodes               axis[int]
	ratios, labelRatios axis[float64]
}

// newAxes gives cmd the flags of condensations, with lists for the method and the size.
func newAxes(cmd *cobra.Command) (*axes, *configFlags) {
	f := &configFlags{config: cgc.Defaults(), flags: cmd.Flags()}
	a, c := new(axes), &f.config
	ratio := func(text string) (float64, error) {
		var s share
		err := s.Set(text)
		return float64(s), err
	}
	shown := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	const wantRatios = "shares above 0 and at most 1, or percentages as in 1.3%,2.6%, separated by commas"
	a.methods = axis[cgc.Variant]{field: &c.Variant, wanted: "some of cgc,cgc-x,simdm, separated by commas", show: func(m cgc.Variant) string { return string(m) }, parse: func(text string) (cgc.Variant, error) {
		if !slices.Contains(cgc.Variants(), cgc.Variant(text)) {
			return "", errors.New("no such method")
		}
		return cgc.Variant(text), nil
	}}
	a.nodes = axis[int]{field: &c.Nodes, wanted: "whole numbers of at least 1, separated by commas", show: strconv.Itoa, parse: func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err == nil && n < 1 {
			err = errors.New("below 1")
		}
		return n, err
	}}
	a.ratios = axis[float64]{field: &c.Ratio, wanted: wantRatios, show: shown, parse: ratio}
	a.labelRatios = axis[float64]{field: &c.LabelRatio, wanted: wantRatios, show: shown, parse: ratio}
	flags := cmd.Flags()
	flags.Var(&a.methods, "methods", "methods to compare, the first with each other one: some of cgc,cgc-x,simdm (default cgc)")
	flags.Var(&a.nodes, "nodes", "numbers of condensed nodes, as 35,70,140 (default 10 for each class)")
	flags.Var(&a.ratios, "ratios", "the same as shares of all nodes (of the training nodes with --inductive): 1.3%,2.6%")
	flags.Var(&a.labelRatios, "label-ratios", "the same as shares of the training nodes: 25%,50%")
	f.addRest(cmd)
	return a, f
}

// configs returns the configurations that the axes span around base: for each size, each method.
func (a *axes) configs(base cgc.Config) (all []cgc.Config) {
	var sized []cgc.Config
	sizeless := base
	sizeless.Nodes, sizeless.Ratio, sizeless.LabelRatio = 0, 0, 0
	add := func(set func(c *cgc.Config)) {
		c := sizeless
		set(&c)
		sized = append(sized, c)
	}
	for _, n := range a.nodes.values {
		add(func(c *cgc.Config) { c.Nodes = n })
	}
	for _, r := range a.ratios.values {
		add(func(c *cgc.Config) { c.Ratio = r })
	}
	for _, r := range a.labelRatios.values {
		add(func(c *cgc.Config) { c.LabelRatio = r })
	}
	if len(sized) == 0 {
		sized = append(sized, base)
	}
	methods := a.methods.values
	if len(methods) == 0 {
		methods = []cgc.Variant{base.Variant}
	}
	for _, c := range sized {
		for _, m := range methods {
			c.Variant = m
			all = append(all, c)
		}
	}
	return all
}

// mistake names the axis that an error about a size is about.
func (a *axes) mistake(f *configFlags, err error) error {
	text := strings.TrimPrefix(fmt.Sprint(err), "cgc: ")
	for name, set := range map[string]bool{"ratios": len(a.ratios.values) > 0, "label-ratios": len(a.labelRatios.values) > 0} {
		if set {
			return usagef("--%s: %s", name, text)
		}
	}
	return f.mistake(err)
}
