package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/web"
)

func (c *command) webCommand() *cobra.Command {
	var (
		address, folder string
		show            bool
	)
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Serve the page that condenses graphs in a browser",
		Long: `Serve a page that condenses graphs in a browser. The page reads the files that are dropped on it. It works in
the browser alone: nothing is uploaded, to this server or to another one. The server answers this machine only,
unless --addr says otherwise. Ctrl-C ends it.

With -o, write the files of the page into a folder instead, for any server of static files.`,
		Example: examples("cgc web --open", "cgc web --addr localhost:0 --json", "cgc web -o public/"),
		Args:    arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if folder != "" {
				if err := web.Export(folder); err != nil {
					return err
				}
				return c.print(map[string]string{"folder": folder}, sentenceDocument("the page is in %s", folder))
			}
			return c.serve(cmd.Context(), address, show)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&address, "addr", "localhost:8080", "serve at `HOST:PORT`; port 0 takes one that is free")
	flags.BoolVar(&show, "open", false, "open the page in the browser of this desktop")
	flags.StringVarP(&folder, "output", "o", "", "write the page into `FOLDER` instead of serving it")
	return cmd
}

// serve serves the page until ctx ends.
func (c *command) serve(ctx context.Context, address string, show bool) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return usagef("--addr %s, want HOST:PORT as in localhost:8080", address)
	}
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("--addr %s: another program has this port (--addr localhost:0 takes one that is free)", address)
	case err != nil:
		return fmt.Errorf("--addr %s: %w", address, innermost(err))
	}
	handler, err := web.Handler()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	where := "http://" + listener.Addr().String() + "/"
	if err := c.print(map[string]string{"url": where}, sentenceDocument("%s", where)); err != nil {
		return errors.Join(err, listener.Close())
	}
	if show {
		if err := openInBrowser(ctx, where); err != nil {
			c.progress.note("--open: no browser could be started (%v); open %s in one", err, where)
		}
	}
	const patience = 10 * time.Second // a client that asks for nothing
	server := &http.Server{Handler: handler, ReadHeaderTimeout: patience}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return ctx.Err()
}

// innermost returns what an error of the network wraps: the cause, without the address once more.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}

// openInBrowser opens an address as a desktop does.
func openInBrowser(ctx context.Context, url string) error {
	words := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "darwin":
		words = []string{"open", url}
	case "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return fmt.Errorf("%s is not here", words[0])
	}
	return exec.CommandContext(ctx, words[0], words[1:]...).Start()
}
