package dataset

import "context"

// FetchFile fetches one file.
func FetchFile(ctx context.Context, url, path, sum string) error {
	return fetchFile(ctx, url, path, sum)
}
