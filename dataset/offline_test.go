package dataset_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

func TestMain(m *testing.M) { os.Exit(fixture.Offline(m)) }

// inside replaces the tests of a package.
type inside func()

func (f inside) Run() int { f(); return 3 }

func TestMainRefusesOtherMachines(t *testing.T) {
	here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := io.WriteString(w, "here"); err != nil {
			t.Error(err)
		}
	}))
	defer here.Close()
	before := http.DefaultTransport
	code := fixture.Offline(inside(func() {
		if _, err := http.Get("https://example.org/file"); err == nil ||
			!strings.Contains(err.Error(), "no test uses the network") {
			t.Errorf("another machine: %v", err)
		}
		r := mattest.Must(http.Get(here.URL))
		defer r.Body.Close()
		if text, err := io.ReadAll(r.Body); string(text) != "here" {
			t.Errorf("this machine: %q, %v", text, err)
		}
	}))
	if code != 3 || http.DefaultTransport != before {
		t.Errorf("exit code %d, transport %v", code, http.DefaultTransport)
	}
}
