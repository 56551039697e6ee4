package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/cluster"
)

// workerCommand returns the hidden command that a cluster starts on its machines.
func (c *command) workerCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "worker -o FILE",
		Short:   "Do one task of a cluster that comes on standard input",
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
	into(outputGroup, cmd.Flags())
	return cmd
}
