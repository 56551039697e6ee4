package overview_test

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/cli"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/overview"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestCommand checks that the command line for a configuration parses back to the same configuration.
func TestCommand(t *testing.T) {
	g := synth.Demo()
	for name, change := range map[string]func(*cgc.Config){
		"defaults": func(*cgc.Config) {},
		"ratio":    func(c *cgc.Config) { c.Size = condense.Size{Ratio: 0.01} },
		"many": func(c *cgc.Config) {
			c.Hops, c.Standardize, c.Seed, c.Temperature = 1, true, 7, cgc.Infinite
		},
		"no edges": func(c *cgc.Config) { c.Variant, c.Partition = cgc.CGCX, "random" },
		"zeros":    func(c *cgc.Config) { c.Degree, c.Alpha, c.Augment = 0, 0.5, 0.25 },
	} {
		config := cgc.Defaults()
		config.Nodes = 21
		change(&config)
		if config.Ratio > 0 {
			config.Nodes = 0
		}
		small := mattest.Must(cgc.Condense(context.Background(), g, config))
		file := filepath.Join(t.TempDir(), "again.safetensors")
		line := overview.Command(file, small, "demo")
		if code := cli.Run(context.Background(), strings.Fields(line)[1:], io.Discard, io.Discard); code != 0 {
			t.Errorf("%s: %s ends with code %d", name, line, code)
			continue
		}
		again := mattest.Must(cgc.Load(file))
		mattest.Equal(t, string(again.Config), string(small.Config), "%s: %s gives the configuration", name, line)
	}
}

// TestOther checks that the command line contains all parameters of another package's method, quoted for a shell.
func TestOther(t *testing.T) {
	small := &condense.Condensed{
		Method: "mine", Config: json.RawMessage(`{"method":"mine","nodes":5,"seed":0,"inductive":true,"word":"it's"}`),
	}
	want := `cgc condense 'my graph' --method mine --nodes 5 --inductive --param 'word="it'\''s"' -o a.safetensors`
	mattest.Equal(t, overview.Command("a.safetensors", small, "my graph"), want, "the command line is")
}

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"cora": "cora-70", "../etc/pass wd": "etc-pass-wd-70", "Ärzte_2.0": "Ärzte_2.0-70", "图": "图-70",
		"कि\xff": "कि--70", "<!>": "graph-70", "": "graph-70",
	} {
		mattest.Equal(t, overview.FileName(name, 70), want, "%q becomes", name)
	}
}
