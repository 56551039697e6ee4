package main

import "github.com/graph-condensation/cgc/cmd/cgc/cli"

// commands generates the reference of the command line.
func commands(string, []string) (string, error) { return cli.Reference(), nil }
