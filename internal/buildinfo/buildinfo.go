// Package buildinfo identifies the running program: the version of this module, the commit, Go and the platform.
//
// The commit comes from the linker, if the build set the variables of this package, or else from the go command, which
// records it when building in a checkout. "go run" does not record it, so the commit is then unknown.
package buildinfo

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Info is the build of a program that contains this module. Fields that the build does not know are empty.
type Info struct {
	// Version is the version of this module: "v1.2.0", "(devel)".
	Version string
	// Revision is the full commit that this module was built from. It is known only if the program is part of this
	// module.
	Revision string
	// Time is the time of the commit, in RFC 3339: "2026-11-22T04:40:23Z".
	Time string
	// Modified reports whether files differed from the commit.
	Modified bool
	// Go is the version of Go, and Platform is the system and the processor: "linux/amd64".
	Go, Platform string
}

// module is the path of this module. The modules below it have the same commit.
const module = "github.com/graph-condensation/cgc"

// The linker may set these, by -ldflags "-X …/internal/buildinfo.revision=…". modified is "true" if files differed from
// the commit.
var version, revision, committed, modified string

// This returns the build of the running program.
func This() Info {
	build, known := debug.ReadBuildInfo()
	if !known {
		build = new(debug.BuildInfo)
	}
	return of(build)
}

// of reads the version and the commit of this module. This module is the main module, a module above it or a
// dependency.
func of(build *debug.BuildInfo) Info {
	i := Info{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if revision != "" {
		i.Version, i.Revision, i.Time, i.Modified = version, revision, committed, modified == "true"
		return i
	}
	for _, m := range build.Deps {
		if m.Path == module {
			i.Version = m.Version
		}
	}
	if !ours(build.Main.Path) {
		return i // the commit belongs to another module
	}
	i.Version = build.Main.Version
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Revision = s.Value
		case "vcs.time":
			i.Time = s.Value
		case "vcs.modified":
			i.Modified = s.Value == "true"
		}
	}
	return i
}

// ours reports whether a module is this one or below it.
func ours(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }
