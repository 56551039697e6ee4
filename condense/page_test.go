package condense_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/safetensors"
)

// The reference page of the condensed file lists every tensor and metadata key that Save writes, with its type.
func TestPageListsTheFile(t *testing.T) {
	const page = "../docs/reference/condensed-file.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	c := whole(t)
	c.ClassNames = []string{"a", "b", "c"}
	c.MemberIDs = slices.Repeat([]string{"name"}, len(c.Members.Indices))
	file, err := safetensors.Open(save(t, c))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	row := func(name string) string {
		for line := range strings.Lines(string(text)) {
			if first, _, is := strings.Cut(strings.TrimPrefix(line, "| "), " |"); is && strings.Contains(first, "`"+name+"`") {
				return line
			}
		}
		t.Errorf("%s has no row for %s", page, name)
		return ""
	}
	for _, info := range file.Tensors() {
		if !strings.Contains(row(info.Name), string(info.DType)) {
			t.Errorf("%s does not say that %s is %s: %s", page, info.Name, info.DType, row(info.Name))
		}
	}
	for key := range file.Metadata {
		row(key)
	}
}
