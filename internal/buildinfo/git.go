package buildinfo

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// patience is how long git may take to answer.
const patience = 2 * time.Second

// ask fills in the commit of the checkout that holds folder. It changes nothing if there is no git or no checkout.
func (i *Info) ask(folder string) {
	if folder == "" {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	said := func(args ...string) (string, bool) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", folder}, args...)...).Output()
		return strings.TrimSpace(string(out)), err == nil
	}
	commit, ok := said("show", "--no-patch", "--no-show-signature", "--format=%H %ct", "HEAD")
	hash, seconds, both := strings.Cut(commit, " ")
	if !ok || !both {
		return
	}
	at, err := time.ParseDuration(seconds + "s")
	if err != nil {
		return
	}
	changes, ok := said("status", "--porcelain")
	i.Revision, i.Modified = hash, ok && changes != ""
	i.Time = time.Unix(0, 0).Add(at).UTC().Format(time.RFC3339)
}
