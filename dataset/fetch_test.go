package dataset_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/progress"
)

// server serves content under every path and records the Range header of each request.
func server(t *testing.T, content []byte, asked *[]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.Header.Get("Range"))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

func TestFetchFileResumes(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 20_000)
	hash := sha256.Sum256(content)
	sum := hex.EncodeToString(hash[:])
	for name, c := range map[string]struct {
		part  []byte
		asked string
	}{
		"from nothing": {nil, ""},
		"from a part":  {content[:12345], "bytes=12345-"},
		"from all":     {content, "bytes=200000-"},
	} {
		var asked []string
		url := server(t, content, &asked)
		path := filepath.Join(t.TempDir(), "file")
		if c.part != nil {
			mattest.OK(t, os.WriteFile(path+".part", c.part, 0o600))
		}
		var done, total int64
		ctx := progress.With(t.Context(), func(e progress.Event) { done, total = e.Done, e.Total })
		for range 2 { // the second time, the file exists
			if err := dataset.FetchFile(ctx, url, path, sum); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, content) {
			t.Errorf("%s: fetched %d bytes that are not the %d of the file", name, len(got), len(content))
		}
		if len(asked) != 1 || asked[0] != c.asked {
			t.Errorf("%s: asked for %q, want %q once", name, asked, c.asked)
		}
		if len(c.part) < len(content) && (done != int64(len(content)) || total != done) {
			t.Errorf("%s: progress ended at %d of %d", name, done, total)
		}
	}
}

// TestFetchFileByBlobID checks that a checksum of 40 digits is compared with Git's ID of the content, as git
// hash-object prints it.
func TestFetchFileByBlobID(t *testing.T) {
	var asked []string
	path := filepath.Join(t.TempDir(), "file")
	url := server(t, []byte("hello\n"), &asked)
	for range 2 {
		mattest.OK(t, dataset.FetchFile(t.Context(), url, path, "ce013625030ba8dba906f756967f9e9ca394464a"))
	}
	if len(asked) != 1 {
		t.Errorf("asked %d times, want once", len(asked))
	}
}

func TestFetchFileRefusesOtherContent(t *testing.T) {
	var asked []string
	path := filepath.Join(t.TempDir(), "file")
	err := dataset.FetchFile(t.Context(), server(t, []byte("something else"), &asked), path, strings.Repeat("0", 64))
	fixture.Says(t, err, "its checksum is ")
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
}

func TestFetchFileStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half"))
		w.(http.Flusher).Flush()
		cancel()
		<-stopped
	}))
	defer s.Close()
	defer close(stopped)
	path := filepath.Join(t.TempDir(), "file")
	mattest.WantIs(t, dataset.FetchFile(ctx, s.URL, path, "sum"), context.Canceled)
	if _, err := os.Stat(path); err == nil {
		t.Error("half a file stands under the name of the whole")
	}
}

func TestFetchCora(t *testing.T) {
	var dir string
	for _, s := range realData(t).List() {
		if s.Name == "cora" && s.Path != "" {
			dir = filepath.Dir(s.Path)
		}
	}
	if dir == "" {
		t.Skip("cora is not in $CGC_DATA")
	}
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer s.Close()
	o := dataset.Options{Cache: t.TempDir(), Origin: s.URL + "/"}
	g, err := o.Open(t.Context(), "cora")
	if err != nil || g.Nodes() != 2708 {
		t.Fatal(err)
	}
	s.Close() // from now on, files can only come from the cache
	mattest.Must(o.Open(t.Context(), "cora"))
}

func TestFetchWithoutNetwork(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	url := s.URL + "/"
	_, err := dataset.Options{Cache: t.TempDir(), Origin: url}.Open(t.Context(), "cora")
	fixture.Says(t, err, url+"ind.cora.x: the server answers 404")
	s.Close()
	_, err = dataset.Options{Cache: t.TempDir(), Origin: url}.Open(t.Context(), "cora")
	fixture.Says(t, err, url+"ind.cora.x: connect: ")
	fixture.Says(t, err, "CGC_DATA")
}
