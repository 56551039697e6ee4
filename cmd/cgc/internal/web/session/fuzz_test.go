package session_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/web/session"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// FuzzDo sends arbitrary bytes as a request. The answer must be JSON. A failure must be one line without the folders of
// the page, and must leave no file. The context is already cancelled, so requests are read and checked, but no work is
// done.
func FuzzDo(f *testing.F) {
	for _, seed := range []string{
		`{"do":"about"}`, `{"do":"open","graph":"demo"}`, `{"do":"dance"}`, `{`, `null`, `[]`, `{"do":1}`,
		`{"do":"condense","graph":"demo","config":{"nodes":35,"method":"cgc-x","partition":"spectral"}}`,
		`{"do":"condense","graph":"demo","config":{"nodes":-1,"hops":1e9,"temperature":"x"}}`,
		`{"do":"condense","graph":"demo","config":{"ratio":"2.6%","memory":99999999999999999999}}`,
		`{"do":"convert","conversion":{"file":"small.safetensors","format":"pt"}}`,
		`{"do":"convert","conversion":{"file":"../../etc/passwd","format":"../x"}}`,
		`{"do":"train","graph":"demo","training":{"model":"gcn","epochs":5,"file":"x"}}`,
		`{"do":"train","graph":"demo","training":{"model":"gat","epochs":1e6,"hidden":-5,"seeds":1e9}}`,
		`{"do":"report"}`,
	} {
		f.Add([]byte(seed))
	}
	ended := mattest.Cancelled(f)
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, request []byte) {
		var r session.Request
		if json.Unmarshal(request, &r) == nil && r.Graph != "demo" && strings.ContainsAny(r.Graph, `/\.~`) {
			t.Skip("files of this machine are not what the page has")
		}
		s := &session.Session{Inbox: "/the inbox of the page", Outbox: folder}
		answer := s.Do(ended, request)
		if !json.Valid(answer) || bytes.ContainsRune(answer, '\n') {
			t.Fatalf("the answer is not one line of JSON: %s", answer)
		}
		var failed session.Failure
		if json.Unmarshal(answer, &failed) == nil && failed.Error != "" {
			if strings.ContainsRune(failed.Error, '\n') || strings.Contains(failed.Error, s.Inbox) ||
				strings.Contains(failed.Error, folder) {
				t.Errorf("%q", failed.Error)
			}
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("%v, left %v", err, left)
			}
		}
	})
}
