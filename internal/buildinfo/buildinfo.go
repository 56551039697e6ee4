// Package buildinfo says which program is running: the version of this module, the commit, Go and the platform.
//
// What is known of the commit comes from one of three places, the first that has it:
//
//   - the linker, if the build set the variables of this package (python/commit.py prints the flags);
//   - the go command, which stamps what it builds in a checkout;
//   - git, asked when the program runs, if "go run" built it: that stamps nothing, and has just read the checkout.
package buildinfo

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// Info is the build of a program that contains this module. Fields that the build does not know are empty.
type Info struct {
	// Version is that of this module: "v1.2.0", "(devel)".
	Version string
	// Revision is the commit that this module was built from, in full. It is known only if the program is part of this
	// module.
	Revision string
	// Time is the time of the commit, in RFC 3339: "2026-11-22T04:40:23Z".
	Time string
	// Modified says that files differed from the commit.
	Modified bool
	// Go is the version of Go, Platform the system and the processor: "linux/amd64".
	Go, Platform string
}

// module is the path of this module. The modules below it have the same commit.
const module = "github.com/graph-condensation/cgc"

// The linker may set these, by -ldflags "-X …/internal/buildinfo.revision=…". modified is "true" or not.
var version, revision, committed, modified string

// This returns the build of the program that runs.
var This = sync.OnceValue(func() Info {
	build, known := debug.ReadBuildInfo()
	if !known {
		build = new(debug.BuildInfo)
	}
	i := of(build)
	if i.Revision == "" && ours(build.Main.Path) && justBuilt(os.Executable()) {
		i.ask(sourceFolder())
	}
	return i
})

// of reads the version and the commit of this module, which is the main one, one below it or a dependency.
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
		return i // the commit is that of another module
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

// ours says whether a module is this one or below it.
func ours(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

// cached is the name of a folder of the go command's cache that holds a program.
var cached = regexp.MustCompile(`^[0-9a-f]{64}-d$`)

// justBuilt says whether "go run" built the program at path: in a folder exe of a temporary folder go-build…, or in the
// cache, from which the go command takes it as long as the sources stay the same.
func justBuilt(path string, err error) bool {
	folder := filepath.Dir(path)
	name := filepath.Base(folder)
	return err == nil && (name == "exe" && strings.Contains(folder, "go-build") || cached.MatchString(name))
}

// sourceFolder returns the folder of this file when it was compiled; "" if the build left paths out.
func sourceFolder() string {
	_, file, _, known := runtime.Caller(0)
	if !known || !filepath.IsAbs(file) {
		return ""
	}
	return filepath.Dir(file)
}
