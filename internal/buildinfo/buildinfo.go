// Package buildinfo says which program is running: the version of this module, the commit, Go and the platform.
package buildinfo

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// Info is the build of a program that contains this module. Fields that the build does not know are empty.
type Info struct {
	// Version is that of this module: "v1.2.0", "(devel)".
	Version string
	// Revision is the commit that this module was built from, in full. It is known only if the program is part of this
	// module.
	Revision string
	// Modified says that files differed from the commit.
	Modified bool
	// Go is the version of Go, Platform the system and the processor: "linux/amd64".
	Go, Platform string
}

// module is the path of this module.
const module = "github.com/graph-condensation/cgc"

// This returns the build of the program that runs.
var This = sync.OnceValue(func() Info {
	build, known := debug.ReadBuildInfo()
	if !known {
		build = new(debug.BuildInfo)
	}
	return of(build)
})

// of reads the version and the commit of this module, which is the main one or a dependency.
func of(build *debug.BuildInfo) Info {
	i := Info{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	for _, m := range build.Deps {
		if m.Path == module {
			i.Version = m.Version
		}
	}
	if build.Main.Path != module {
		return i // the commit is that of another module
	}
	i.Version = build.Main.Version
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Revision = s.Value
		case "vcs.modified":
			i.Modified = s.Value == "true"
		}
	}
	return i
}
