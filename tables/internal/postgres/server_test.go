//go:build unix

package postgres_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
)

// secret is the password of the database user. It must not appear in errors, notes or files.
const secret = "hush'%?#/@:word"

// server is a PostgreSQL server that a test has started.
type server struct {
	port int
	db   *sql.DB // of the user tester, who may write
}

// programs returns the folder of the newest installed server: in the folders that Debian uses, or else in $PATH.
func programs(t *testing.T) string {
	t.Helper()
	found := mattest.Must(filepath.Glob("/usr/lib/postgresql/*/bin/initdb"))
	if path, err := exec.LookPath("initdb"); err == nil && len(found) == 0 {
		found = []string{path}
	}
	if len(found) == 0 {
		t.Skip("no PostgreSQL server is installed here (Debian: postgresql)")
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1])
}

// runner returns the user that runs the server, which refuses to run as root. nil means the user of the test.
func runner(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, wrongUser := strconv.ParseUint(u.Uid, 10, 32)
		gid, wrongGroup := strconv.ParseUint(u.Gid, 10, 32)
		if wrongUser == nil && wrongGroup == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	t.Skip("the test runs as root, and there is no other user to run a server as")
	return nil
}

// start starts a server on this machine, in a folder that the test removes, and stops it when the test ends.
func start(t *testing.T) *server {
	t.Helper()
	slow.Test(t, "starts a PostgreSQL server")
	bin, as := programs(t), runner(t)
	dir, err := os.MkdirTemp("", "cgc-postgres-") // other users cannot enter t.TempDir
	mattest.OK(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	password := filepath.Join(dir, "password")
	mattest.OK(t, os.WriteFile(password, []byte(secret), 0o600))
	if as != nil {
		for _, path := range []string{dir, password} {
			mattest.OK(t, os.Chown(path, int(as.Uid), int(as.Gid)))
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as}
		cmd.Env = []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")}
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := command("initdb", "--pgdata", data, "--username", "tester", "--auth", "scram-sha-256",
		"--pwfile", password, "--encoding", "UTF8", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s := &server{port: freePort(t)}
	var log bytes.Buffer
	cmd := command("postgres", "-D", data, "-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-c", "fsync=off",
		"-c", "unix_socket_directories=")
	cmd.Stdout, cmd.Stderr = &log, &log
	mattest.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT) // a fast shutdown
		_ = cmd.Wait()                         // with any exit code
	})
	s.db = mattest.Must(sql.Open("postgres", s.address("postgres")))
	for range 3000 { // five minutes: on a busy machine, the server starts late
		if err = s.db.PingContext(t.Context()); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		t.Fatalf("the server did not start: %v\n%s", err, log.String())
	}
	t.Cleanup(func() { s.db.Close() })
	return s
}

// freePort returns a port of this machine that is free.
func freePort(t *testing.T) int {
	t.Helper()
	l := mattest.Must(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// address returns the address of a database, with the password.
func (s *server) address(name string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword("tester", secret), Host: fmt.Sprintf("127.0.0.1:%d", s.port), Path: name,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// run runs statements.
func (s *server) run(t *testing.T, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := s.db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// ask returns the first value of the first row that a query gives.
func (s *server) ask(t *testing.T, query string) (value string) {
	t.Helper()
	mattest.OK(t, s.db.QueryRowContext(t.Context(), query).Scan(&value))
	return value
}
