package buildinfo

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestOf checks that the version is this module's, as the main module or a dependency, and that the commit of another
// module does not count.
func TestOf(t *testing.T) {
	settings := []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.modified", Value: "true"},
		{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"},
	}
	known := Info{Version: "(devel)", Revision: "0123abc", Time: "2026-01-02T03:04:05Z", Modified: true}
	for _, c := range []struct {
		name  string
		build debug.BuildInfo
		want  Info
	}{
		{"main module", debug.BuildInfo{Main: debug.Module{Path: module, Version: "(devel)"}, Settings: settings},
			known},
		{"module below", debug.BuildInfo{
			Main: debug.Module{Path: module + "/cmd/cgc", Version: "(devel)"}, Settings: settings,
			Deps: []*debug.Module{{Path: module, Version: "v0.0.0"}},
		}, known},
		{"dependency", debug.BuildInfo{
			Main: debug.Module{Path: "example.com/other", Version: "v9.0.0"}, Settings: settings,
			Deps: []*debug.Module{{Path: "example.com/third", Version: "v3.0.0"}, {Path: module, Version: "v1.2.0"}},
		}, Info{Version: "v1.2.0"}},
		{"unknown", debug.BuildInfo{}, Info{}},
	} {
		c.want.Go, c.want.Platform = runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH
		mattest.Equal(t, of(&c.build), c.want, "%s", c.name)
	}
}

// TestLinker checks that what the linker sets overrides what the go command stamped.
func TestLinker(t *testing.T) {
	version, revision, committed, modified = "v2.0.0", "abc", "2026-01-02T03:04:05Z", "true"
	defer func() { version, revision, committed, modified = "", "", "", "" }()
	if i := of(new(debug.BuildInfo)); i.Revision != "abc" || i.Version != "v2.0.0" || i.Time != committed || !i.Modified {
		t.Errorf("%+v", i)
	}
}
