package confine

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNone says that no control group can be made here: there is none for memory, or this user may not make one.
var ErrNone = errors.New("confine: no control group for memory can be made here")

// group is a control group: its folder, and the names of its files in version 1 or 2 of control groups.
type group struct{ folder, limit, peak string }

// newGroup makes a group of which the processes hold at most limit bytes.
func newGroup(limit int64) (g group, err error) {
	name := fmt.Sprintf("cgc-%d-%d", os.Getpid(), time.Now().UnixNano())
	for _, g := range []group{
		{filepath.Join("/sys/fs/cgroup/memory", name), "memory.limit_in_bytes", "memory.max_usage_in_bytes"},
		{filepath.Join("/sys/fs/cgroup", name), "memory.max", "memory.peak"},
	} {
		if _, err := os.Stat(filepath.Dir(g.folder)); err != nil {
			continue
		}
		if err = os.Mkdir(g.folder, 0o755); err != nil {
			continue
		}
		if err = os.WriteFile(filepath.Join(g.folder, g.limit), []byte(strconv.FormatInt(limit, 10)), 0o644); err == nil {
			return g, nil
		}
		_ = os.Remove(g.folder)
	}
	return group{}, ErrNone
}

// Run runs a command line in a control group of limit bytes, with env beside the environment of this process. The
// program's standard output is dropped. The error is ErrNone if no group can be made. If the program fails, the error
// ends with its last words.
func Run(ctx context.Context, limit int64, env []string, command ...string) (u Usage, err error) {
	g, err := newGroup(limit)
	if err != nil {
		return u, err
	}
	defer os.Remove(g.folder)
	// The shell moves itself into the group and becomes the program: all of its memory then counts.
	enter := `echo $$ > "$0" && exec "$@"`
	args := append([]string{"-c", enter, filepath.Join(g.folder, "cgroup.procs")}, command...)
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Env = append(append(os.Environ(), "CGC_PROGRESS=json"), env...)
	lines, err := cmd.StderrPipe()
	if err != nil {
		return u, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return u, err
	}
	last := u.follow(bufio.NewScanner(lines), cmd.Process.Pid, begun)
	failed := cmd.Wait()
	u.Seconds = time.Since(begun).Seconds()
	u.Processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if text, err := os.ReadFile(filepath.Join(g.folder, g.peak)); err == nil {
		u.Peak, _ = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	}
	if failed != nil {
		return u, fmt.Errorf("confine: within %d bytes: %w: %s", limit, failed, last)
	}
	return u, nil
}

// follow reads the progress of a process until it ends, and returns its last other words.
func (u *Usage) follow(lines *bufio.Scanner, pid int, begun time.Time) (last string) {
	phase, since := Phase{Name: "load"}, begun
	var read, written int64
	end := func() {
		nowRead, nowWritten := Transferred(pid)
		phase.Seconds = time.Since(since).Seconds()
		phase.Read, phase.Written = max(0, nowRead-read), max(0, nowWritten-written)
		u.Phases = append(u.Phases, phase)
		read, written, since = max(read, nowRead), max(written, nowWritten), time.Now()
	}
	for lines.Scan() {
		var e struct{ Stage string }
		switch err := json.Unmarshal(lines.Bytes(), &e); {
		case err != nil:
			last = lines.Text()
		case e.Stage != phase.Name && !strings.HasPrefix(e.Stage, "opening"):
			end()
			phase = Phase{Name: e.Stage}
		}
	}
	end()
	return last
}

// Forget drops the pages of a file that the system keeps in memory, so that whoever reads it next pays for them.
func Forget(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return err
	}
	return unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED)
}
