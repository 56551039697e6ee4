//go:build unix

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// victims lists the commands that TestKills kills.
func victims() []*victim {
	const made = "made.safetensors"
	training := []string{"--whole", "0", "--epochs", "4", "--hidden", "4"}
	experiment := append([]string{"cgc", "experiment", "demo", "--methods", "cgc,cgc-x", "--nodes", "14", "-o", "results"},
		training...)
	paper := append([]string{"cgc", "paper", "table3", "--graphs", made, "-o", "results"}, training...)
	board := []string{"cgc", "paper", "board", "demo", "--methods", "random", "--models", "sgc", "--whole", "0", "-o",
		"board"}
	condense := []string{"cgc", "condense", "demo", "--nodes", "35", "-o"}
	tune := []string{"cgc", "tune", "demo", "--nodes", "35", "--seeds", "1", "--epochs", "5", "--hidden", "4", "--force",
		"-o", "best.json"}
	with := func(line []string, more ...string) []string { return append(line[:len(line):len(line)], more...) }
	makes := func(line ...string) func(*testing.T, string) []string {
		return func(t *testing.T, dir string) []string {
			cmd := exec.Command(line[0], line[1:]...)
			cmd.Dir = dir
			mattest.Run(t, cmd)
			return nil
		}
	}
	small := func(file string) *victim {
		return &victim{
			name: "condense to " + path.Ext(file), outputs: []string{file},
			before: with(condense, file), after: with(condense, file, "--seed", "1", "--method", "cgc-x"),
		}
	}
	return []*victim{
		small("small.safetensors"),
		{
			name: "condense with checkpoints", outputs: []string{"small.safetensors"},
			before: with(condense, "small.safetensors"),
			after: with(condense, "small.safetensors", "--method", "gcond-x", "--param", "epochs=2", "--param",
				"outer=2", "--seed", "1"),
		},
		{
			name: "convert to safetensors", outputs: []string{"to.safetensors"},
			prepare: makes("cgc", "data", "make", "--like", "arxiv", "--scale", "0.03", "-o", made),
			before:  []string{"cgc", "convert", made, "to.safetensors"},
			after:   []string{"cgc", "convert", made, "to.safetensors", "--store", "f16", "--panels", "16", "--force"},
		},
		{
			name: "convert to Parquet", outputs: []string{"to"},
			prepare: makes("cgc", "data", "make", "--like", "arxiv", "--scale", "0.01", "-o", made),
			before:  []string{"cgc", "convert", "demo", "to", "--format", "parquet"},
			after:   []string{"cgc", "convert", made, "to", "--format", "parquet", "--force"},
		},
		{
			name: "propagate", outputs: []string{"hops"},
			prepare: makes("cgc", "data", "make", "--like", "arxiv", "--scale", "0.2", "-o", made),
			before:  []string{"cgc", "propagate", made, "--hops", "1", "-o", "hops"},
			after:   []string{"cgc", "propagate", made, "--hops", "3", "--memory", "100MB", "-o", "hops"},
		},
		{
			name: "data make", outputs: []string{made},
			before: []string{"cgc", "data", "make", "--like", "arxiv", "--scale", "0.01", "-o", made},
			after:  []string{"cgc", "data", "make", "--like", "arxiv", "--scale", "0.05", "--seed", "1", "-o", made, "--force"},
		},
		{
			name: "experiment", outputs: []string{"results/records.csv", "results/summary.csv"},
			grown:  []string{"results/records.jsonl"},
			before: with(experiment, "--seeds", "1"), after: with(experiment, "--seeds", "3"),
		},
		{
			name: "tune", outputs: []string{"best.json"},
			before: with(tune, "--trials", "1"), after: with(tune, "--trials", "3", "--seed", "1"),
		},
		{
			name: "paper", grown: []string{"results/records.jsonl"},
			outputs: []string{"results/table3.csv", "results/table3.json", "results/table3.md",
				"results/table3-made-safetensors.png", "results/table3-made-safetensors.svg"},
			prepare: makes("cgc", "data", "make", "--like", "cora", "--scale", "0.1", "-o", made),
			before:  with(paper, "--seeds", "1"), after: with(paper, "--seeds", "2"),
		},
		{
			name: "paper board", outputs: []string{"board/board.csv"}, grown: []string{"board/demo.jsonl"},
			before: with(board, "--seeds", "1"), after: with(board, "--seeds", "2"),
		},
		fetched(), python(),
	}
}

// python returns the victim that runs the command through the Python package.
func python() *victim {
	program := `import sys, cgc; from cgc import _scratch; _scratch._memory = lambda size: None
cgc.condense("demo", nodes=35, seed=int(sys.argv[1])).save("small.safetensors")`
	name := os.Getenv("CGC_PYTHON")
	if name == "" {
		name = "python3"
	}
	v := &victim{
		name: "Python", outputs: []string{"small.safetensors"},
		before: []string{name, "-c", program, "0"}, after: []string{name, "-c", program, "1"},
	}
	v.skip = func(t *testing.T) {
		if err := exec.Command(name, "-c", "import numpy").Run(); err != nil {
			t.Skipf("%s has no numpy (CGC_PYTHON names another Python): %v", name, err)
		}
	}
	v.prepare = func(t *testing.T, dir string) []string {
		command := mattest.Must(exec.LookPath("cgc"))
		source := mattest.Must(filepath.Abs("../../python"))
		return []string{"CGC_BINARY=" + command, "PYTHONPATH=" + source, "PYTHONDONTWRITEBYTECODE=1"}
	}
	return v
}

// fetched returns the victim cgc data fetch. A proxy that the test starts answers for the host of the files, with a
// certificate that only the victim trusts.
func fetched() *victim {
	fetch := []string{"cgc", "data", "fetch", "cora"}
	var source string
	return &victim{
		name: "data fetch", partly: []string{"cache"}, after: fetch,
		skip: func(t *testing.T) {
			for _, folder := range filepath.SplitList(os.Getenv("CGC_DATA")) {
				for _, below := range []string{"", "planetoid", "cora"} {
					source = filepath.Join(folder, below)
					if _, err := os.Stat(filepath.Join(source, "ind.cora.x")); err == nil {
						return
					}
				}
			}
			t.Skip("the files of cora are in no folder of CGC_DATA")
		},
		prepare: func(t *testing.T, dir string) []string {
			proxy, certificate := interceptor(t, trickle(source))
			mattest.OK(t, os.WriteFile(filepath.Join(dir, "certificate.pem"), certificate, 0o600))
			return []string{
				"HTTPS_PROXY=" + proxy, "SSL_CERT_FILE=" + filepath.Join(dir, "certificate.pem"),
				"XDG_CACHE_HOME=" + filepath.Join(dir, "cache"), "CGC_DATA=",
			}
		},
	}
}

// trickle serves the files of a folder slowly, in small pieces, under any path.
func trickle(folder string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(pieces{w}, r, filepath.Join(folder, path.Base(r.URL.Path)))
	})
}

// pieces writes in pieces of at most 16 KiB, with a short pause after each.
type pieces struct{ http.ResponseWriter }

// Write sends p piece by piece.
func (w pieces) Write(p []byte) (done int, err error) {
	const size = 16 << 10
	for done < len(p) && err == nil {
		var n int
		n, err = w.ResponseWriter.Write(p[done:min(len(p), done+size)])
		done += n
		w.ResponseWriter.(http.Flusher).Flush()
		time.Sleep(time.Millisecond)
	}
	return done, err
}

// interceptor starts an HTTPS proxy that answers for every host itself. It returns its address, and the CA certificate
// to trust.
func interceptor(t *testing.T, handler http.Handler) (address string, authority []byte) {
	t.Helper()
	key := mattest.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a test"}, IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"raw.githubusercontent.com"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	signed := mattest.Must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	inner := httptest.NewUnstartedServer(handler)
	inner.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}}}
	inner.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0) // a killed client may stop in mid-handshake
	inner.StartTLS()
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "want CONNECT", http.StatusBadRequest)
			return
		}
		to, err := net.Dial("tcp", inner.Listener.Addr().String())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		from, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			to.Close()
			return
		}
		if _, err := io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
			from.Close()
			to.Close()
			return
		}
		go join(to, from)
		go join(from, to)
	}))
	t.Cleanup(func() { outer.Close(); inner.Close() })
	return outer.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
}

// join copies data from one connection to the other until either fails or ends, and then closes both.
func join(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	_, _ = io.Copy(to, from)
}
