package overview_test

import (
	"encoding/json"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/overview"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/internal/mattest"
)

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
