package safetensors_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/safetensors"
)

// TestBlankBecomesTheFile checks that a file filled in any order is byte-identical to one written at once.
func TestBlankBecomesTheFile(t *testing.T) {
	dir := t.TempDir()
	meta := map[string]string{"name": "g"}
	half, ints, bytesOf := []uint16{1, 2, 3, 4, 5, 6}, []int64{7, 8, 9}, []uint8("abc")
	tensors := []safetensors.Tensor{
		{Name: "half", DType: safetensors.F16, Shape: []int{2, 3}, Data: half},
		{Name: "ints", DType: safetensors.I64, Shape: []int{3}, Data: ints},
		{Name: "none", DType: safetensors.F32, Shape: []int{0}, Data: []float32{}},
		{Name: "text", DType: safetensors.U8, Shape: []int{3}, Data: bytesOf},
	}
	mattest.OK(t, safetensors.Write(t.Context(), filepath.Join(dir, "a"), meta, tensors))
	want := mattest.Must(os.ReadFile(filepath.Join(dir, "a")))
	file := mattest.Must(os.Create(filepath.Join(dir, "b")))
	defer file.Close()
	blank := mattest.Must(safetensors.NewBlank(file, meta, tensors))
	for _, err := range []error{
		safetensors.Fill(blank, "text", 1, bytesOf[1:]), safetensors.Fill(blank, "half", 4, half[4:]),
		safetensors.Fill(blank, "ints", 0, ints), safetensors.Fill(blank, "half", 0, half[:4]),
		safetensors.Fill(blank, "text", 0, bytesOf[:1]), safetensors.Fill(blank, "none", 0, []float32{}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "b")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: the bytes differ:\n%q\n%q", err, got, want)
	}
	for what, err := range map[string]error{
		"beyond the end": safetensors.Fill(blank, "half", 3, half[:4]),
		"below":          safetensors.Fill(blank, "half", -1, half[:1]),
		"another type":   safetensors.Fill(blank, "half", 0, ints[:1]),
		"no tensor":      safetensors.Fill(blank, "third", 0, half),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	for want, wrong := range map[string][]safetensors.Tensor{
		`"half" is taken`:         {tensors[0], tensors[0]},
		`"__metadata__" is taken`: {{Name: "__metadata__", DType: safetensors.F32}},
		`"F8" of shape [1]`:       {{Name: "a", DType: "F8", Shape: []int{1}}},
		`"F32" of shape [-1]`:     {{Name: "a", DType: safetensors.F32, Shape: []int{-1}}},
	} {
		mattest.Fails(t, want)(safetensors.NewBlank(file, meta, wrong))
	}
}
