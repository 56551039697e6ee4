package session

import "testing"

func TestArgument(t *testing.T) {
	s := &Session{Inbox: "/graph"}
	for path, want := range map[string]string{
		"demo": "demo", "/graph/my-graph": "./my-graph", "/graph/a.npz": "./a.npz", "/graph": "FOLDER",
		"/graph/my graph": "'./my graph'", "/graph/it's $HOME": `'./it'\''s $HOME'`, "/graph/a/b.npz": "./a/b.npz",
	} {
		if got := s.argument(path); got != want {
			t.Errorf("%s becomes %s, want %s", path, got, want)
		}
	}
}
