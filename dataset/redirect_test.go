package dataset

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestRedirect checks that a redirect within the host is followed. A redirect to another host is an error that names
// both hosts and leaves no file.
func TestRedirect(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		w.Write([]byte("other"))
	}))
	defer other.Close()
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/near":
			http.Redirect(w, r, "/there", http.StatusFound)
		case "/far":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			w.Write([]byte("own"))
		}
	}))
	defer own.Close()
	if err := download(t.Context(), own.URL+"/near", filepath.Join(t.TempDir(), "part")); err != nil {
		t.Errorf("a redirect within the host: %v", err)
	}
	for path, want := range map[string]string{
		"/far": "redirects to " + other.URL + ", expected " + own.URL, "/round": "redirects more than 5 times",
	} {
		mattest.WantError(t, download(t.Context(), own.URL+path, filepath.Join(t.TempDir(), "part")), want)
	}
	if asked {
		t.Error("the other host is asked")
	}
}
