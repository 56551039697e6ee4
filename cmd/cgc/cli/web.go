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

	"github.com/graph-condensation/cgc/cmd/cgc/internal/web"
)

func (c *command) webCommand() *cobra.Command {
	var (
		address, folder string
		show            bool
	)
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Serve a page that condenses graphs in the browser",
		Long: `Serve a page on which you drop the files of a graph to condense it. All work is done in the browser, and
nothing is uploaded. The server accepts connections only from this machine unless --addr says otherwise. Ctrl-C stops
it.

With -o, write the files of the page to a folder instead, for any static web server.`,
		Example: examples("cgc web --open", "cgc web --addr localhost:0 --json", "cgc web -o public/"),
		Args:    arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if folder != "" {
				all, err := c.page(cmd.Context())
				if err != nil {
					return err
				}
				if err := web.Export(all, folder); err != nil {
					return err
				}
				return c.print(map[string]string{"folder": folder}, sentenceDocument("the page is in %s", folder))
			}
			return c.serve(cmd.Context(), address, show)
		},
	}
	flags := inOrder(cmd)
	flags.StringVar(&address, "addr", "localhost:8080", "serve at `HOST:PORT`; port 0 chooses a free port")
	flags.BoolVar(&show, "open", false, "open the page in the default browser")
	flags.StringVarP(&folder, "output", "o", "", "write the page to `FOLDER` instead of serving it")
	return cmd
}

// page returns the files of the page. If the build does not contain the WebAssembly program, page compiles it, provided
// that the current folder is in a checkout and Go is installed.
func (c *command) page(ctx context.Context) (map[string][]byte, error) {
	all, err := web.Files()
	if !errors.Is(err, web.ErrNoProgram) {
		return all, err
	}
	c.progress.step("compiling the page")
	program, failed := web.Compile(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(failed, exec.ErrNotFound), errors.Is(failed, web.ErrNoSource):
		return nil, err
	case failed != nil:
		c.progress.note("%s", sentence(failed))
		return nil, err
	}
	return web.With(program)
}

// serve serves the page until ctx ends.
func (c *command) serve(ctx context.Context, address string, show bool) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return usagef("--addr %s, must be HOST:PORT as in localhost:8080", address)
	}
	if _, err := net.DefaultResolver.LookupPort(ctx, "tcp", port); err != nil {
		return usagef("--addr %s: port %s, must be from 0 to 65535", address, port)
	}
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("--addr %s: another program has this port (--addr localhost:0 chooses a free one)", address)
	case err != nil:
		return fmt.Errorf("--addr %s: %w", address, innermost(err))
	}
	all, err := c.page(ctx)
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
	const patience = 10 * time.Second // drops clients that send no request
	server := &http.Server{Handler: web.Handler(all), ReadHeaderTimeout: patience}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return ctx.Err()
}

// innermost returns the cause that a network error wraps, without the address.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}

// openInBrowser opens an address in the user's default browser.
func openInBrowser(ctx context.Context, url string) error {
	words := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "darwin":
		words = []string{"open", url}
	case "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return fmt.Errorf("%s is not installed", words[0])
	}
	return exec.CommandContext(ctx, words[0], words[1:]...).Start()
}
