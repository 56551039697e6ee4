package cgc_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// THIRD_PARTY_LICENSES.md names the licence of every module that a go.mod file requires, and no other module. Each of
// these licences allows cgc to be distributed under its own licence.
func TestLicences(t *testing.T) {
	permissive := "MIT BSD-2-Clause BSD-3-Clause Apache-2.0 Unlicense FTL CC-BY-4.0 OFL-1.1 MPL-2.0"
	text := mattest.Must(os.ReadFile("THIRD_PARTY_LICENSES.md"))
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\S+)` \\| (.+) \\|$").FindAllStringSubmatch(string(text), -1) {
		listed[row[1]] = true
		for _, name := range strings.Split(row[2], " and ") {
			if !strings.Contains(" "+permissive+" ", " "+name+" ") {
				t.Errorf("%s has the licence %q, want one of %s", row[1], name, permissive)
			}
		}
	}
	required := map[string]bool{}
	for _, pattern := range []string{"go.mod", "*/go.mod", "*/*/go.mod", "*/*/*/go.mod"} {
		files := mattest.Must(filepath.Glob(pattern))
		for _, file := range files {
			text := mattest.Must(os.ReadFile(file))
			line := regexp.MustCompile(`(?m)^(?:require |\t)(\S+) v\S+`)
			for _, found := range line.FindAllStringSubmatch(string(text), -1) {
				if !strings.HasPrefix(found[1], module) {
					required[found[1]] = true
				}
			}
		}
	}
	if len(required) < 20 {
		t.Errorf("%d modules are required: the go.mod files are not understood", len(required))
	}
	for name := range required {
		if !listed[name] {
			t.Errorf("THIRD_PARTY_LICENSES.md does not list %s", name)
		}
	}
	for name := range listed {
		if !required[name] {
			t.Errorf("THIRD_PARTY_LICENSES.md lists %s, which no go.mod file requires", name)
		}
	}
}
