package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/gnn"
)

// offer returns the shell completions of a word.
type offer = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// complete registers completions for the flags of root and its subcommands, by flag name. The words are looked up when
// the shell asks. A flag that already has a completion keeps it.
func complete(root *cobra.Command) {
	offers := map[string]offer{
		"models": listOf(gnn.Names), "graphs": listOf(graphNames),
		"format": oneOf(format.Writers), "like": oneOf(synth.Names),
		"on":     oneOf(graphNames, cobra.ShellCompDirectiveDefault),
		"config": files("json"), "params": files("json"),
	}
	for _, cmd := range tree(root) {
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			f, is := offers[flag.Name]
			if _, has := cmd.GetFlagCompletionFunc(flag.Name); is && !has {
				completion(cmd, flag.Name, f)
			}
		})
	}
}

// oneOf offers the given words. directive controls what else the shell offers; the default is nothing.
func oneOf(words func() []string, directive ...cobra.ShellCompDirective) offer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		if len(directive) > 0 {
			return words(), directive[0]
		}
		return words(), cobra.ShellCompDirectiveNoFileComp
	}
}

// listOf offers words for the last item of a comma-separated list, except words already in the list.
func listOf(words func() []string) offer {
	return func(_ *cobra.Command, _ []string, word string) (offered []string, _ cobra.ShellCompDirective) {
		last := strings.LastIndex(word, ",") + 1
		given := strings.Split(word[:last], ",")
		for _, w := range words() {
			if !slices.Contains(given, w) {
				offered = append(offered, word[:last]+w)
			}
		}
		return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// files offers the files with the given extension.
func files(ending string) offer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{ending}, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeGraph offers graph names and files for a command with one argument.
func completeGraph(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return graphNames(), cobra.ShellCompDirectiveDefault
}

// completion registers the completions of a flag of cmd.
func completion(cmd *cobra.Command, name string, words offer) {
	if err := cmd.RegisterFlagCompletionFunc(name, words); err != nil {
		panic(err) // the flag does not exist
	}
}
