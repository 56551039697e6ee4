package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/graph-condensation/cgc/dataset/format/planetoid"
)

// officialOrigin is where Planetoid's authors publish their files.
const officialOrigin = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data/"

// checksum gives the SHA-256 of every file that may be fetched.
func checksum(file string) string {
	return map[string]string{
		"ind.citeseer.allx":       "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
		"ind.citeseer.ally":       "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
		"ind.citeseer.graph":      "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
		"ind.citeseer.test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
		"ind.citeseer.tx":         "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
		"ind.citeseer.ty":         "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
		"ind.citeseer.x":          "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
		"ind.citeseer.y":          "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
		"ind.cora.allx":           "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
		"ind.cora.ally":           "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
		"ind.cora.graph":          "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
		"ind.cora.test.index":     "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
		"ind.cora.tx":             "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
		"ind.cora.ty":             "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
		"ind.cora.x":              "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
		"ind.cora.y":              "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
	}[file]
}

// Fetch brings the files of a graph into the folder Cache/name and returns that folder. A file with the right checksum
// is not fetched again. A file that was interrupted is continued. Only cora and citeseer can be fetched. Bytes are told
// to package progress. For a name that cannot be fetched the error is a *NotFound.
func (o Options) Fetch(ctx context.Context, name string) (dir string, err error) {
	if !known(name) {
		return "", o.unknown(name)
	}
	if !fetchable(name) {
		return "", o.missing(name)
	}
	if o.Cache == "" {
		return "", fmt.Errorf("dataset: no cache folder to fetch %s into: set CGC_DATA, or HOME", name)
	}
	dir = filepath.Join(o.Cache, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("dataset: fetching %s: %w", name, err)
	}
	origin := o.Origin
	if origin == "" {
		origin = officialOrigin
	}
	for _, file := range planetoid.Files(name) {
		if err := fetchFile(ctx, origin+file, filepath.Join(dir, file), checksum(file)); err != nil {
			return "", fmt.Errorf("dataset: fetching %s%s: %w (to use files of your own, put them into a folder "+
				"and set CGC_DATA to it)", origin, file, err)
		}
	}
	return dir, nil
}

// fetchFile brings one file: first into file.part and, once its checksum is right, under its name.
func fetchFile(ctx context.Context, url, file, want string) error {
	if sum, err := fileSum(file); err == nil && sum == want {
		return nil
	}
	part := file + ".part"
	if err := download(ctx, url, part); err != nil {
		return err
	}
	sum, err := fileSum(part)
	if err != nil {
		return err
	}
	if sum != want {
		return errors.Join(fmt.Errorf("its SHA-256 is %s, want %s", sum, want), os.Remove(part))
	}
	return os.Rename(part, file)
}

// fileSum returns the SHA-256 of a file.
func fileSum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
