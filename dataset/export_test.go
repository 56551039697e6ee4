package dataset

import (
	"bytes"
	"context"
)

// FetchFile fetches one file.
func (o Options) FetchFile(ctx context.Context, url, path, sum string) error {
	return o.fetchFile(ctx, url, path, sum)
}

// Unpickle reads a pickle and then, as the readers do, what it may hold.
func Unpickle(data []byte) error {
	object, err := unpickle(data)
	if err != nil {
		return err
	}
	if m, ok := object.(*pickledCSR); ok {
		_, err = m.csr()
		return err
	}
	_, err = numbersOf[float32](object)
	return err
}

// ParseNpy reads an .npy file as T.
func ParseNpy[T number](data []byte) ([]int, []T, error) {
	r := bytes.NewReader(data)
	a, err := newArray(r, int64(len(data)))
	if err != nil {
		return nil, nil, err
	}
	x, err := readNumbers[T](a)
	return a.shape, x, err
}

// ParseFloat reads a number of a text file.
func ParseFloat(text string) (float32, error) { return parseFloat([]byte(text)) }

// Readers are the readers of single files, by the end of the file's name; each returns how many numbers it found.
var Readers = map[string]func(file string) (int, error){
	"features.csv":    countTable,
	"features.csv.gz": countTable,
	"features.npy":    func(file string) (int, error) { x, err := readNpy(file); return len(x.Data), err },
	"edges.csv": func(file string) (int, error) {
		a, err := readEdges(file, maxNodes)
		return 2 * len(a.from), err
	},
	"stored.npz":   countMember,
	"deflated.npz": countMember,
}

func countTable(file string) (int, error) {
	x, err := readTable(file)
	if err != nil {
		return 0, err
	}
	return len(x.Data), nil
}

func countMember(file string) (int, error) {
	z, err := openArchive(file)
	if err != nil {
		return 0, err
	}
	defer z.Close()
	x, err := readMember[float32](z, "x")
	return len(x), err
}
