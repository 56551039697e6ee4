package cli

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// FuzzConfig looks for panics when --config is read. A configuration of cgc's methods must be readable after it is
// written.
func FuzzConfig(f *testing.F) {
	f.Add(mattest.Must(json.Marshal(configFile{Config: cgc.Defaults()})), "cgc")
	f.Add([]byte(`{"method":"gcond","epochs":3,"seed":18446744073709551615,"training":{"weighted":true}}`), "cgc")
	f.Add([]byte(`{"hop_weights":[1,2],"temperature":"inf","nodes":-1}`), "simdm")
	f.Add([]byte(strings.Repeat(`{"training":`, 50)), "")
	f.Fuzz(func(t *testing.T, text []byte, method string) {
		read, err := decodeConfig(text, cgc.Defaults(), method)
		if err != nil || read.parameters != nil || read.Validate() != nil {
			return
		}
		again := mattest.Must(json.Marshal(read))
		if _, err := decodeConfig(again, cgc.Defaults(), method); err != nil {
			t.Fatalf("%s is read, and %s is not: %v", text, again, err)
		}
	})
}

// FuzzFlags looks for panics when command lines, split at spaces, are parsed. No command runs.
func FuzzFlags(f *testing.F) {
	for _, line := range []string{
		"condense demo --nodes 70 --temperature inf --hop-weights 0.2,0.3,0.5 --memory 2GiB -o x.pt",
		"experiment demo --ratio 2.6%,1% --methods cgc,gcond --param gcond.epochs=3 --seeds 5",
		"run --nodes -1 --label-ratio 200% --partition nobody --memory 1e400GiB",
		"tune demo --seconds NaN --nodes 9223372036854775808",
		"data make --like arxiv --scale 0.1 --seed 0x10", "data convert a b --format=", "evaluate -h --on",
		"web --address :0", "worker --columns 3:1", "paper table3 --seeds ,", "bench --threads", "--json --quiet version",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c := &command{stdout: io.Discard, stderr: io.Discard}
		root := c.root()
		root.SetContext(context.Background())
		cmd, words, err := root.Find(strings.Fields(line))
		if err != nil {
			return
		}
		if err := cmd.ParseFlags(words); err == nil {
			_ = cmd.ValidateArgs(cmd.Flags().Args())
		}
	})
}
