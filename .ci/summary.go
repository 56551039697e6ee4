//go:build ignore

// Summary reads the events of go test -json and prints what go test prints without -json: a line for each package, and
// the output of failed tests. At the end it lists the skipped tests by reason, and the ten slowest tests without
// subtests. It fails if a test failed or if it reads no events.
//
//	go test -json work | go run .ci/summary.go
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

// test is a test of a package, or the package itself if name is empty.
type test struct{ of, name string }

// String returns the package, without the host, and the name.
func (t test) String() string {
	return strings.TrimPrefix(t.of, "github.com/graph-condensation/") + "." + t.name
}

// place matches the source position before a message of a test, as in " cli_test.go:12: ".
var place = regexp.MustCompile(`^ *\S+\.go:\d+: `)

func main() {
	output := map[test][]string{}
	skipped := map[string][]string{}
	seconds := map[test]float64{} // of passed tests without subtests
	parents := map[test]bool{}
	passed, failed := 0, 0
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			os.Stdout.Write(line) // a line from the go command itself, such as a compiler error
			continue
		}
		t := test{e.Package, e.Test}
		switch e.Action {
		case "output", "build-output":
			if e.Test != "" {
				output[t] = append(output[t], e.Output)
			} else if e.Output != "PASS\n" && e.Output != "FAIL\n" {
				fmt.Print(e.Output)
			}
		case "skip":
			if e.Test != "" {
				why := reason(output[t])
				skipped[why] = append(skipped[why], t.String())
			}
			delete(output, t)
		case "fail":
			failed++
			fmt.Print(strings.Join(output[t], ""))
		case "pass":
			passed++
			delete(output, t)
			seconds[t] = e.Elapsed
			if parent := strings.LastIndex(e.Test, "/"); parent >= 0 {
				parents[test{e.Package, e.Test[:parent]}] = true
			}
		}
	}
	for _, why := range slices.Sorted(maps.Keys(skipped)) {
		fmt.Printf("skipped: %s: %s\n", why, strings.Join(skipped[why], " "))
	}
	maps.DeleteFunc(seconds, func(t test, _ float64) bool { return t.name == "" || parents[t] })
	slowest := slices.SortedFunc(maps.Keys(seconds), func(a, b test) int { return cmp.Compare(seconds[b], seconds[a]) })
	for _, t := range slowest[:min(10, len(slowest))] {
		fmt.Printf("%.0f s: %v\n", seconds[t], t)
	}
	if failed > 0 || passed == 0 {
		fmt.Printf("%d failures\n", failed)
		os.Exit(1)
	}
}

// reason returns the last message of a test before it was skipped.
func reason(output []string) string {
	why := "no reason given"
	for _, line := range output {
		if place.MatchString(line) {
			why = strings.TrimSpace(place.ReplaceAllString(line, ""))
		}
	}
	return why
}
