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
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNone means that no control group can be created: the system has none for memory, or this user lacks permission.
var ErrNone = errors.New("no control group for memory can be made here")

// group is a control group: its folder, and the names of its files in version 1 or 2 of control groups.
type group struct{ folder, limit, peak string }

// newGroup creates a control group whose processes may use at most limit bytes in total.
func newGroup(limit int64) (g group, err error) {
	name := fmt.Sprintf("cgc-%d-%d", os.Getpid(), time.Now().UnixNano())
	for _, g := range []group{
		{filepath.Join("/sys/fs/cgroup/memory", name), "memory.limit_in_bytes", "memory.max_usage_in_bytes"},
		{filepath.Join("/sys/fs/cgroup", name), "memory.max", "memory.peak"},
		{filepath.Join("/sys/fs/cgroup", filepath.Dir(ownGroup()), name), "memory.max", "memory.peak"},
	} {
		if !g.possible() {
			continue
		}
		if err = os.Mkdir(g.folder, 0o755); err != nil {
			continue
		}
		if err = g.bound(limit); err == nil {
			return g, nil
		}
		_ = os.Remove(g.folder)
	}
	return group{}, ErrNone
}

// possible reports whether the folder above g is a control group whose children can have a memory limit. In version 2,
// it enables that if necessary. In a folder of another kind, this would create ordinary files.
func (g group) possible() bool {
	above := filepath.Dir(g.folder)
	if g.limit != "memory.max" { // version 1: the kernel creates the file
		_, err := os.Stat(filepath.Join(above, g.limit))
		return err == nil
	}
	controllers, err := os.ReadFile(filepath.Join(above, "cgroup.controllers"))
	if err != nil || !slices.Contains(strings.Fields(string(controllers)), "memory") {
		return false
	}
	children := filepath.Join(above, "cgroup.subtree_control")
	if enabled, err := os.ReadFile(children); err == nil && slices.Contains(strings.Fields(string(enabled)), "memory") {
		return true
	}
	return os.WriteFile(children, []byte("+memory"), 0) == nil
}

// bound sets the limit of g, in bytes. In version 2, swapped memory does not count, so swapping is disabled.
func (g group) bound(limit int64) error {
	set := func(name, value string) error {
		file, err := os.OpenFile(filepath.Join(g.folder, name), os.O_WRONLY, 0) // only the kernel creates it
		if err != nil {
			return err
		}
		_, err = file.WriteString(value)
		return errors.Join(err, file.Close())
	}
	if g.limit == "memory.max" {
		if err := set("memory.swap.max", "0"); err != nil && !errors.Is(err, os.ErrNotExist) { // it is missing without swap
			return err
		}
	}
	return set(g.limit, strconv.FormatInt(limit, 10))
}

// ownGroup returns the control group of this process in version 2, or "/".
func ownGroup() string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "/"
	}
	for line := range strings.Lines(string(text)) {
		if path, is := strings.CutPrefix(strings.TrimSpace(line), "0::"); is {
			return path
		}
	}
	return "/"
}

// Run runs a command line in a control group of limit bytes, with env added to the environment of this process. The
// standard output of the program is discarded. The error is ErrNone if no group can be created. If the program fails,
// the error ends with its last output.
func Run(ctx context.Context, limit int64, env []string, command ...string) (u Usage, err error) {
	g, err := newGroup(limit)
	if err != nil {
		return u, err
	}
	defer os.Remove(g.folder)
	// The shell enters the group and then becomes the program, so all of its memory counts.
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
		return u, fmt.Errorf("within %d bytes: %w: %s", limit, failed, last)
	}
	return u, nil
}

// follow reads the progress of a process until it ends, and returns the last line of its other output.
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

// Forget drops the cached pages of a file, so that the next reader must load them from the disk.
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
