package experiment_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// FuzzOpenLog looks for panics in reading records.jsonl. It checks that an invalid file stays as it is, and that a
// valid one loses only its torn last line and has the same records when it is read again.
func FuzzOpenLog(f *testing.F) {
	path := filepath.Join(f.TempDir(), "records.jsonl")
	log := mattest.Must(experiment.OpenLog(path))
	for _, r := range example() {
		mattest.OK(f, log.Add(r))
	}
	mattest.OK(f, log.Close())
	text := mattest.Must(os.ReadFile(path))
	f.Add(text)
	f.Add(text[:len(text)-9])
	f.Add([]byte("{\"record\":1}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "records.jsonl")
		mattest.OK(t, os.WriteFile(path, text, 0o600))
		log, err := experiment.OpenLog(path)
		left, _ := os.ReadFile(path)
		if err != nil {
			if !bytes.Equal(left, text) {
				t.Fatalf("%v, and the file is changed", err)
			}
			return
		}
		mattest.OK(t, log.Close()) // an open log locks its file
		if !bytes.Equal(left, text[:len(text)-log.Torn()]) {
			t.Fatalf("%d bytes of %d are left, and %d were torn", len(left), len(text), log.Torn())
		}
		again := mattest.Must(experiment.OpenLog(path))
		defer again.Close()
		if len(again.Records()) != len(log.Records()) {
			t.Fatalf("%d records, then %d", len(log.Records()), len(again.Records()))
		}
	})
}
