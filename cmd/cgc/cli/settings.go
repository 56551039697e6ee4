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

	"github.com/graph-condensation/cgc/internal/registry"
)

// settings holds the flag values set outside the command line. Environment variables override the settings file, and
// the command line overrides both.
type settings struct {
	file string // the path of the file, or ""
	// values maps the name of a command to the values of its flags in the file. The name "" stands for all commands.
	values map[string]map[string]string
	// origins maps each flag that the settings set to the place of the setting, as shown to the user.
	origins map[string]string
}

// settingsVariable is the environment variable with the path of the settings file. The flag --config would have the
// same variable, so it is never read from the environment.
const settingsVariable = "CGC_CONFIG"

// personal lists the flags that only the command line can set, because they apply to a single run.
var personal = []string{
	"config", "dry-run", "edges-sql", "force", "format", "help", "like", "nodes-sql", "on",
	"only", "other-graph", "output", "param", "params", "report", "split", "version", "without",
}

// foreign lists the environment variables with our prefix that do not set a flag.
var foreign = []string{settingsVariable, progressVariable, parentVariable, "CGC_DATA", "CGC_BINARY"}

// settable reports whether a flag may be set outside the command line.
func settable(flag *pflag.Flag) bool { return !slices.Contains(personal, flag.Name) }

const variablePrefix = "CGC_"

// variable returns the environment variable of a flag: CGC_WEIGHT_DECAY for --weight-decay.
func variable(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// settingsPath returns the path of the settings file, and whether the user set it. The path is "" if the system has no
// configuration folder.
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

// readSettings reads the settings file, if it exists, and checks its keys against the commands and flags of root.
func readSettings(root *cobra.Command) (*settings, error) {
	s := &settings{values: map[string]map[string]string{}, origins: map[string]string{}}
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

// decode reads a JSON object whose keys are flags, or names of commands whose values are objects of flags.
func (s *settings) decode(text []byte, root *cobra.Command) error {
	var object map[string]json.RawMessage
	if err := strictly(text, &object); err != nil {
		return err
	}
	commands, flags := vocabulary(root)
	for _, key := range slices.Sorted(maps.Keys(object)) { // sorted, so that the same mistake is always reported first
		if !slices.Contains(commands, key) {
			near := slices.Concat(flags[""], commands)
			if err := s.set("", key, object[key], flags[""], "a flag or a command", near); err != nil {
				return err
			}
			continue
		}
		var inner map[string]json.RawMessage
		if json.Unmarshal(object[key], &inner) != nil {
			return fmt.Errorf("%s: %s, must be an object of flags", key, object[key])
		}
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			if err := s.set(key, name, inner[name], flags[key], "a flag of cgc "+key, flags[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

// set stores the value of a key for a command, in the syntax of a flag. known lists the allowed keys; near lists the
// keys to suggest.
func (s *settings) set(command, key string, value json.RawMessage, known []string, kind string, near []string) error {
	if !slices.Contains(known, key) {
		if slices.Contains(personal, key) {
			return fmt.Errorf("%s can only be given on the command line", key)
		}
		return fmt.Errorf("%q is not %s%s", key, kind, registry.Hint("", key, near))
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
				return err
			}
		case strings.ContainsAny(text[:1], "{[n"):
			return fmt.Errorf("%s: %s, must be a number, a string, true, false or a list of them", key, text)
		default:
			words[i] = text
		}
	}
	if s.values[command] == nil {
		s.values[command] = map[string]string{}
	}
	s.values[command][key] = strings.Join(words, ",")
	return nil
}

// vocabulary returns the names of the commands, and for each command the flags that may be set outside the command
// line. The name "" stands for all commands; its flags are sorted.
func vocabulary(root *cobra.Command) (commands []string, flags map[string][]string) {
	flags = map[string][]string{}
	for _, cmd := range tree(root) {
		if cmd == root {
			continue
		}
		name := nameOfCommand(cmd)
		commands = append(commands, name)
		note := func(flag *pflag.Flag) {
			if settable(flag) {
				flags[name] = append(flags[name], flag.Name)
			}
		}
		cmd.LocalFlags().VisitAll(note)
		cmd.InheritedFlags().VisitAll(note)
	}
	var all []string
	for _, names := range flags {
		all = append(all, names...)
	}
	slices.Sort(all)
	flags[""] = slices.Compact(all)
	return commands, flags
}

// nameOfCommand returns the words of a command after "cgc".
func nameOfCommand(cmd *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
}

// apply sets the flags of cmd that the command line does not set. These flags do not count as changed, so a --config
// file overrides them like defaults. The flags for a size count as one setting: only the source with the highest
// precedence sets it.
func (s *settings) apply(cmd *cobra.Command) (err error) {
	sized := 0 // the highest precedence level that sets a size
	for _, name := range sizes {
		if flag := cmd.Flags().Lookup(name); flag != nil {
			level, _, _ := s.find(cmd, flag)
			sized = max(sized, level)
		}
	}
	from := "" // where the size was set
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		level, value, place := s.find(cmd, flag)
		size := slices.Contains(sizes, flag.Name)
		switch {
		case err != nil || place == "" || size && level < sized:
			return
		case size && from != "":
			err = usagef("%s and %s both set the size, must be one of them", from, place)
			return
		case size:
			from = place
		}
		if e := flag.Value.Set(value); e != nil {
			err = invalid(place, value, flag.Value, e)
			return
		}
		s.origins[flag.Name] = place
	})
	return err
}

// find returns the highest-precedence setting of a flag of cmd: its level, value and place. Value and place are "" if
// the command line sets the flag, or nothing does.
func (s *settings) find(cmd *cobra.Command, flag *pflag.Flag) (level int, value, place string) {
	if flag.Changed {
		return 4, "", ""
	}
	if value := os.Getenv(variable(flag.Name)); value != "" && settable(flag) {
		return 3, value, variable(flag.Name)
	}
	name := nameOfCommand(cmd)
	if value, is := s.values[name][flag.Name]; is && name != "" {
		return 2, value, s.file + ": " + name + "." + flag.Name
	}
	if value, is := s.values[""][flag.Name]; is {
		return 1, value, s.file + ": " + flag.Name
	}
	return 0, "", ""
}

// strange returns a sentence for each environment variable that resembles the variable of a flag but is not one, or
// that is the variable of a flag that only the command line can set.
func (s *settings) strange(root *cobra.Command) (sentences []string) {
	_, flags := vocabulary(root)
	var known []string // without the prefix, which would make all names similar
	for _, name := range foreign {
		known = append(known, strings.TrimPrefix(name, variablePrefix))
	}
	for _, name := range flags[""] {
		known = append(known, strings.TrimPrefix(variable(name), variablePrefix))
	}
	slices.Sort(known)
	given := map[string]string{}
	for _, name := range personal {
		if name != "help" && name != "version" { // CGC_VERSION may be a script's own
			given[variable(name)] = name
		}
	}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		rest, ours := strings.CutPrefix(name, variablePrefix)
		if flag := given[name]; flag != "" && value != "" && !slices.Contains(foreign, name) {
			sentences = append(sentences,
				fmt.Sprintf("the environment variable %s has no effect: --%s can only be given on the command line", name, flag))
			continue
		}
		if near := registry.Near(rest, known); ours && value != "" && len(near) > 0 {
			sentences = append(sentences,
				fmt.Sprintf("the environment variable %s is set but has no effect; did you mean %s%s?",
					name, variablePrefix, near[0]))
		}
	}
	return sentences
}

// said reports whether the command line or the settings set a flag.
func (c *command) said(flag string) bool {
	_, is := c.settings.origins[flag]
	return is || c.cmd.Flags().Changed(flag)
}

// flagWord matches a flag in a sentence.
var flagWord = regexp.MustCompile(`--[a-z][a-z-]*`)

// name replaces, in an error message, each flag that the settings set with the place of the setting, because the
// mistake is there and not on the command line.
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

// settingsPlace returns the path of the settings file for the help.
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

// settingsHelp describes where settings come from.
func settingsHelp() string {
	return fmt.Sprintf(`Flags can also be set in %s ($%s names another file), as {"threads": 2, "run":
{"seeds": 3}}, and by environment variables, as CGC_WEIGHT_DECAY for --weight-decay. Variables override the file,
and the command line overrides both.`, settingsPlace(), settingsVariable)
}
