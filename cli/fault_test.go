package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/memory"
)

// Each panic that reaches the command is one line.
func TestFault(t *testing.T) {
	const large = "the next step takes 4.00 GB of memory at once beside 1.00 GB that are taken, " +
		"and the machine has 2.00 GB"
	for want, raised := range map[string]any{
		large: &memory.Exceeded{Asked: 4e9, Held: 1e9, Most: 2e9, By: memory.ByMachine},
		"this is a mistake in cgc, please report it with the command line: index": errors.New("index"),
	} {
		var out strings.Builder
		(&command{stderr: &out}).fault(raised)
		if got := out.String(); got != "cgc: "+want+"\n" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
