// Package offline keeps tests away from the network.
package offline

import (
	"fmt"
	"net"
	"net/http"
)

// Main runs the tests of a package and returns their exit code. Meanwhile http.DefaultTransport rejects every host
// except this machine. A TestMain calls it:
//
//	func TestMain(m *testing.M) { os.Exit(offline.Main(m)) }
func Main(m interface{ Run() int }) int {
	before := http.DefaultTransport
	http.DefaultTransport = guard{before}
	defer func() { http.DefaultTransport = before }()
	return m.Run()
}

// guard passes only requests to this machine.
type guard struct{ http.RoundTripper }

// RoundTrip returns an error for a request to another machine.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if ip := net.ParseIP(r.URL.Hostname()); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("a test asks for %s, and no test uses the network", r.URL)
	}
	return g.RoundTripper.RoundTrip(r)
}
