package cli

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/graph-condensation/cgc/internal/buildinfo"
)

// manualCommand returns the hidden command that writes the man pages and completions that packages install. Builds call
// it.
func (c *command) manualCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write man pages and shell completions",
		Hidden: true,
		Long: `Write a man page for each command to FOLDER/man/man1, and completions for bash, zsh, fish and PowerShell to
FOLDER/completions. The pages carry the date of the commit.`,
		Example: examples("cgc man build/share"),
		Args:    arguments(1, "FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			pages, err := manual(cmd.Root(), args[0])
			if err != nil {
				return err
			}
			written := map[string]any{"folder": args[0], "pages": pages}
			return c.print(written, sentenceDocument("%d man pages and 4 completions in %s", pages, args[0]))
		},
	}
}

// manual writes the man pages and the shell completions into folder, and returns the number of pages.
func manual(root *cobra.Command, folder string) (pages int, err error) {
	man, shells := filepath.Join(folder, "man", "man1"), filepath.Join(folder, "completions")
	for _, dir := range []string{folder, man, shells} {
		if err := makeFolder("FOLDER", dir); err != nil {
			return 0, err
		}
	}
	date, err := time.Parse(time.RFC3339, buildinfo.This().Time)
	if err != nil { // the build has no date: a fixed one keeps the pages reproducible
		date = time.Unix(0, 0).UTC()
	}
	root.DisableAutoGenTag = true // the tag contains today's date
	// The pages are read on other machines, so the path must not be this machine's.
	root.Long = strings.ReplaceAll(root.Long, settingsPlace(), "cgc/config.json in your configuration folder")
	header := &doc.GenManHeader{Section: "1", Source: "cgc " + version().Version, Date: &date}
	if err := doc.GenManTree(root, header, man); err != nil {
		return 0, err
	}
	written, err := filepath.Glob(filepath.Join(man, "*.1"))
	if err != nil {
		return 0, err
	}
	for name, write := range map[string]func(string) error{
		"cgc.bash": func(file string) error { return root.GenBashCompletionFileV2(file, true) },
		"_cgc":     root.GenZshCompletionFile,
		"cgc.fish": func(file string) error { return root.GenFishCompletionFile(file, true) },
		"cgc.ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := write(filepath.Join(shells, name)); err != nil {
			return 0, err
		}
	}
	return len(written), nil
}
