package cgc_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Each test that docs/design/faults.md names is in the file that it names, and each file is there.
func TestFaultsPage(t *testing.T) {
	page, err := os.ReadFile("docs/design/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	named, inFile := 0, "" // the tests, and the file that was named last
	for _, part := range regexp.MustCompile("`[^`]+`").FindAllString(string(page), -1) {
		word := strings.Trim(part, "`")
		switch {
		case strings.HasPrefix(word, "Test"):
			named++
			if !strings.Contains(inFile, "\nfunc "+word+"(") {
				t.Errorf("%s is not in the file that is named before it", word)
			}
		case strings.HasSuffix(word, ".go"), strings.HasSuffix(word, ".py"):
			text, err := os.ReadFile(word)
			if err != nil {
				t.Error(err)
			}
			inFile = string(text)
		}
	}
	if named < 20 {
		t.Errorf("%d tests are named, want those of every promise", named)
	}
}
