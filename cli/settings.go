package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc/internal/spelling"
)

// settings are values of flags that stand outside the command line. A value of the file gives way to an environment
// variable, and both give way to the command line.
type settings struct {
	file string // the path of the file that was read, "" if there is none
	// general are the values of the file for every command that has the flag, own those for one command, by its name.
	general map[string]string
	own     map[string]map[string]string
	// origins says of each flag that was set from here what the user calls the place.
	origins map[string]string
}

// settingsVariable names the file. No flag has this variable: --config is never read from the environment.
const settingsVariable = "CGC_CONFIG"

// personal are the flags that only the command line sets: what they say is about one run.
var personal = []string{
	"config", "dry-run", "edges-sql", "force", "help", "like", "nodes-sql", "on",
	"output", "param", "params", "report", "resume", "version",
}

// foreign are the variables with our prefix that are not for flags.
var foreign = []string{settingsVariable, progressVariable, parentVariable, "CGC_DATA", "CGC_BINARY"}

// settable says whether a flag may be set outside the command line.
func settable(flag *pflag.Flag) bool { return !slices.Contains(personal, flag.Name) }

// variablePrefix begins the names of our environment variables.
const variablePrefix = "CGC_"

// variable returns the environment variable of a flag: CGC_WEIGHT_DECAY for --weight-decay.
func variable(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// settingsPath returns the path of the file, and whether the user named it. The path is "" if the system has no place
// for it.
func settingsPath() (path string, named bool) {
	if path := os.Getenv(settingsVariable); path != "" {
		return path, true
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", false
	}
	return filepath.Join(folder, "cgc", "config.json"), false
}

// readSettings reads the file, if there is one, and checks its keys against the commands and flags of root.
func readSettings(root *cobra.Command) (*settings, error) {
	s := &settings{general: map[string]string{}, own: map[string]map[string]string{}, origins: map[string]string{}}
	path, named := settingsPath()
	if path == "" {
		return s, nil
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return s, nil
	case err != nil && named:
		return nil, usagef("%s %s: %v", settingsVariable, path, reason(err))
	case err != nil:
		return nil, usagef("%s: %v", path, reason(err))
	case len(strings.TrimSpace(string(text))) == 0:
		return s, nil
	}
	s.file = path
	if err := s.decode(text, root); err != nil {
		return nil, usagef("%s: %s", path, sentence(err))
	}
	return s, nil
}

// decode reads an object whose keys are flags, or commands with objects of flags.
func (s *settings) decode(text []byte, root *cobra.Command) error {
	var object map[string]json.RawMessage
	if err := strictly(text, &object); err != nil {
		return err
	}
	commands, flags := vocabulary(root)
	var all []string // the flags of all commands
	for _, names := range flags {
		all = append(all, names...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for _, key := range slices.Sorted(maps.Keys(object)) { // of several mistakes, always the same one is told
		value := object[key]
		if !slices.Contains(commands, key) {
			word, err := settingOf(key, value, all, "a flag or a command", append(slices.Clone(all), commands...))
			if err != nil {
				return err
			}
			s.general[key] = word
			continue
		}
		var inner map[string]json.RawMessage
		if json.Unmarshal(value, &inner) != nil {
			return fmt.Errorf("%s: %s, want an object of flags", key, value)
		}
		s.own[key] = map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			value := inner[name]
			word, err := settingOf(name, value, flags[key], "a flag of cgc "+key, flags[key])
			if err != nil {
				return err
			}
			s.own[key][name] = word
		}
	}
	return nil
}

// settingOf returns the value of a key as a flag takes it. known are the keys that are allowed, near those to suggest.
func settingOf(key string, value json.RawMessage, known []string, kind string, near []string) (string, error) {
	if !slices.Contains(known, key) {
		if slices.Contains(personal, key) {
			return "", fmt.Errorf("%s is given on the command line alone", key)
		}
		return "", fmt.Errorf("%q is not %s%s", key, kind, spelling.Hint("", key, near))
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil || list == nil {
		list = []json.RawMessage{value}
	}
	words := make([]string, len(list))
	for i, one := range list {
		switch text := string(one); {
		case strings.HasPrefix(text, `"`):
			if err := json.Unmarshal(one, &words[i]); err != nil {
				return "", err
			}
		case strings.ContainsAny(text[:1], "{[n"):
			return "", fmt.Errorf("%s: %s, want a number, a word, true, false or a list of them", key, text)
		default:
			words[i] = text
		}
	}
	return strings.Join(words, ","), nil
}

// vocabulary returns the names of the commands, and for each the flags that may be set outside the command line.
func vocabulary(root *cobra.Command) (commands []string, flags map[string][]string) {
	flags = map[string][]string{}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			name := nameOfCommand(c)
			commands = append(commands, name)
			note := func(flag *pflag.Flag) {
				if settable(flag) {
					flags[name] = append(flags[name], flag.Name)
				}
			}
			c.LocalFlags().VisitAll(note)
			c.InheritedFlags().VisitAll(note)
			visit(c)
		}
	}
	visit(root)
	return commands, flags
}

// nameOfCommand returns the words of a command after "cgc".
func nameOfCommand(cmd *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
}

// apply sets the flags of cmd that the command line does not give. They do not count as changed: a file of --config
// overrules them, as it overrules defaults. The words for a size are one setting: the command line, the environment or
// the file gives it.
func (s *settings) apply(cmd *cobra.Command) (err error) {
	type found struct {
		level        int
		value, place string
	}
	values := map[string]found{}
	sized := 0 // the highest level that says a size
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		var f found
		if value, is := s.general[flag.Name]; is {
			f = found{1, value, s.file + ": " + flag.Name}
		}
		name := nameOfCommand(cmd)
		if value, is := s.own[name][flag.Name]; is {
			f = found{2, value, s.file + ": " + name + "." + flag.Name}
		}
		if value := os.Getenv(variable(flag.Name)); value != "" && settable(flag) {
			f = found{3, value, variable(flag.Name)}
		}
		if flag.Changed {
			f = found{level: 4}
		}
		if slices.Contains(sizes, flag.Name) {
			sized = max(sized, f.level)
		}
		values[flag.Name] = f
	})
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		f := values[flag.Name]
		if err != nil || f.place == "" || slices.Contains(sizes, flag.Name) && f.level < sized {
			return
		}
		if e := flag.Value.Set(f.value); e != nil {
			err = usagef("%s %s, want %s", f.place, f.value, expected(flag.Value, e))
			return
		}
		s.origins[flag.Name] = f.place
	})
	return err
}

// strange returns a sentence for each environment variable that looks like one for a flag, and is none.
func (s *settings) strange(root *cobra.Command) (sentences []string) {
	_, flags := vocabulary(root)
	var known []string // without the prefix, which would make all names look alike
	for _, name := range foreign {
		known = append(known, strings.TrimPrefix(name, variablePrefix))
	}
	for _, names := range flags {
		for _, name := range names {
			known = append(known, strings.TrimPrefix(variable(name), variablePrefix))
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		rest, ours := strings.CutPrefix(name, variablePrefix)
		if near := spelling.Near(rest, known); ours && value != "" && len(near) > 0 {
			sentences = append(sentences,
				fmt.Sprintf("%s is set and not read; did you mean %s%s?", name, variablePrefix, near[0]))
		}
	}
	return sentences
}

// said says whether the command line or the settings give a flag.
func (c *command) said(cmd *cobra.Command, flag string) bool {
	_, is := c.settings.origins[flag]
	return is || cmd.Flags().Changed(flag)
}

// flagWord matches a flag in a sentence.
var flagWord = regexp.MustCompile(`--[a-z][a-z-]*`)

// name writes, for each flag that the settings gave, the place of the setting: a mistake is not on the command line.
func (s *settings) name(text string) string {
	if s == nil {
		return text
	}
	return flagWord.ReplaceAllStringFunc(text, func(flag string) string {
		if place, is := s.origins[flag[2:]]; is {
			return place
		}
		return flag
	})
}

// settingsPlace returns the path of the file as help shows it.
func settingsPlace() string {
	path, named := settingsPath()
	if home, err := os.UserHomeDir(); err == nil && home != "" && !named {
		if rest, below := strings.CutPrefix(path, home); below {
			path = "~" + rest
		}
	}
	if path == "" {
		path = "the file that $" + settingsVariable + " names"
	}
	return path
}

// settingsHelp says where settings stand.
func settingsHelp() string {
	return fmt.Sprintf(`A flag may also be set by an environment variable (CGC_THREADS for --threads, CGC_WEIGHT_DECAY for
--weight-decay) or in %s ($%s names another), as {"threads": 2, "run": {"seeds": 3}}.
The command line goes before the variable, and the variable before the file.`, settingsPlace(), settingsVariable)
}
