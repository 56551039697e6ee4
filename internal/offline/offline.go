// Package offline keeps tests away from the network.
package offline

import (
	"fmt"
	"net"
	"net/http"
)

// Main runs the tests of a package while http.DefaultTransport refuses every host but this machine, and returns their
// exit code. A TestMain calls it:
//
//	func TestMain(m *testing.M) { os.Exit(offline.Main(m)) }
func Main(m interface{ Run() int }) int {
	before := http.DefaultTransport
	http.DefaultTransport = guard{before}
	defer func() { http.DefaultTransport = before }()
	return m.Run()
}

// guard lets requests to this machine through.
type guard struct{ http.RoundTripper }

// RoundTrip returns an error for a request to another machine.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if ip := net.ParseIP(r.URL.Hostname()); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("offline: a test asks for %s, and no test uses the network", r.URL)
	}
	return g.RoundTripper.RoundTrip(r)
}
