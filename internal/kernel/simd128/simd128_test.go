package simd128_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/kernel/simd128"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
)

// TestLoops runs the tests of package kernel in Node, with these loops. One of them compares their bits with those of
// the portable loops.
func TestLoops(t *testing.T) {
	slow.Test(t, "compiles package kernel to WebAssembly and runs its tests in Node")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed (Debian's package nodejs)")
	}
	folder := t.TempDir()
	mattest.OK(t, os.WriteFile(filepath.Join(folder, "loops.wasm"), simd128.Module(), 0o600))
	mattest.OK(t, os.WriteFile(filepath.Join(folder, "relay.wasm"), simd128.Relay(), 0o600))
	program := filepath.Join(folder, "kernel.wasm")
	build := exec.Command("go", "test", "-c", "-vet=off", "-tags", "simd128", "-o", program, "..")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=")
	mattest.Run(t, build)
	root := strings.TrimSpace(string(mattest.Must(exec.Command("go", "env", "GOROOT").Output())))
	glue := filepath.Join(root, "lib", "wasm", "wasm_exec.js")
	run := exec.Command(node, "--stack-size=8192", "run.mjs", glue, folder, program, "-test.v")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	mattest.Says(t, string(out), "--- PASS: TestSIMDEqualsPortable", "--- PASS: TestGemmIsTheProduct")
}
