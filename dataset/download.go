//go:build !js

package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"time"

	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/progress"
)

// stall is the longest time that a server may send nothing.
const stall = 30 * time.Second

// client follows redirects only within the host and the scheme of the request.
var client = &http.Client{CheckRedirect: func(next *http.Request, before []*http.Request) error {
	const most = 5
	if first := before[0].URL; next.URL.Host != first.Host || next.URL.Scheme != first.Scheme {
		return fmt.Errorf("the server redirects to %s://%s, expected %s://%s", next.URL.Scheme, next.URL.Host, first.Scheme,
			first.Host)
	}
	if len(before) > most {
		return fmt.Errorf("the server redirects more than %d times", most)
	}
	return nil
}}

// unreachable returns the error of a request without the calls that failed.
func unreachable(err error) error {
	if lookup := new(net.DNSError); errors.As(err, &lookup) {
		return fmt.Errorf("there is no host %s, or no network", lookup.Name)
	}
	if call := new(net.OpError); errors.As(err, &call) {
		return call.Err
	}
	if request := new(url.Error); errors.As(err, &request) {
		return request.Err
	}
	return err
}

// download appends the missing rest of the file at address to the partial file part.
func download(ctx context.Context, address, part string) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(stall, func() { cancel(fmt.Errorf("no answer for %v", stall)) })
	defer watch.Stop()
	defer func() {
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
	}()
	file, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := atomicfile.Lock(file); err != nil {
		return err
	}
	done, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	if done > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", done))
	}
	response, err := client.Do(request)
	if err != nil {
		return unreachable(err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusPartialContent:
	case http.StatusOK: // the server sends the complete file
		if done, err = file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := file.Truncate(0); err != nil {
			return err
		}
	case http.StatusRequestedRangeNotSatisfiable: // the file is complete or too long: the checksum decides
		return nil
	default:
		return fmt.Errorf("the server answers %s", response.Status)
	}
	total := int64(0)
	if response.ContentLength > 0 {
		total = done + response.ContentLength
	}
	buffer := make([]byte, 1<<16)
	for {
		n, err := response.Body.Read(buffer)
		watch.Reset(stall)
		if _, err := file.Write(buffer[:n]); err != nil {
			return err
		}
		done += int64(n)
		progress.Report(ctx, progress.Event{Stage: "fetching " + path.Base(address), Done: done, Total: total})
		if err == io.EOF {
			return errors.Join(file.Sync(), file.Close())
		}
		if err != nil {
			return err
		}
	}
}
