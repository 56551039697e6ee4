package numpy_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/internal/fixture"
)

// BenchmarkRead reads 20 MB of numbers. The MB/s count decoded numbers.
func BenchmarkRead(b *testing.B) {
	const rows, cols = 50_000, 100
	random := rand.New(rand.NewPCG(1, 1))
	numbers := make([]float32, rows*cols)
	for i := range numbers {
		numbers[i] = float32(random.NormFloat64())
	}
	array := fixture.Npy("<f4", fmt.Sprint(rows, ", ", cols), numbers)
	zipped := func(method uint16) []byte {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		w, err := z.CreateHeader(&zip.FileHeader{Name: "x.npy", Method: method})
		if err == nil {
			_, err = w.Write(array)
		}
		if err := errors.Join(err, z.Close()); err != nil {
			b.Fatal(err)
		}
		return out.Bytes()
	}
	for _, f := range []struct {
		name string
		data []byte
		read func(file string) (int, error)
	}{
		{"features.npy", array, func(file string) (int, error) {
			x, err := numpy.Read(b.Context(), file)
			return len(x.Data), err
		}},
		{"stored.npz", zipped(zip.Store), countMember}, {"deflated.npz", zipped(zip.Deflate), countMember},
	} {
		b.Run(f.name, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), f.name)
			if err := os.WriteFile(file, f.data, 0o600); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(array)))
			for b.Loop() {
				if n, err := f.read(file); err != nil || n != len(numbers) {
					b.Fatalf("%d numbers, want %d; error %v", n, len(numbers), err)
				}
			}
		})
	}
}

func countMember(file string) (int, error) {
	z, err := numpy.OpenArchive(context.Background(), file)
	if err != nil {
		return 0, err
	}
	defer z.Close()
	x, err := numpy.Member[float32](z, "x")
	return len(x), err
}
