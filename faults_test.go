package cgc_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestFaultsPage checks that the files named in SECURITY.md exist and contain the tests that it names.
func TestFaultsPage(t *testing.T) {
	page := mattest.Must(os.ReadFile("SECURITY.md"))
	named, inFile := 0, "" // the number of tests, and the text of the last named file
	for _, part := range regexp.MustCompile("`[^`]+`").FindAllString(string(page), -1) {
		word := strings.Trim(part, "`")
		switch {
		case strings.HasPrefix(word, "Test"):
			named++
			if !strings.Contains(inFile, "\nfunc "+word+"(") {
				t.Errorf("%s is not in the file that is named before it", word)
			}
		case strings.HasSuffix(word, ".go"), strings.HasSuffix(word, ".py"), strings.HasSuffix(word, ".txtar"):
			inFile = string(mattest.Must(os.ReadFile(word)))
		}
	}
	if named < 20 {
		t.Errorf("%d tests are named, want those of every promise", named)
	}
}
