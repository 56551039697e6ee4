package safetensors_test

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/progress"
)

func everyType() []safetensors.Tensor {
	return []safetensors.Tensor{
		{Name: "u8", Data: []uint8{1, 255, 3}},
		{Name: "bool", DType: safetensors.Bool, Data: []uint8{1, 0}},
		{Name: "f16", DType: safetensors.F16, Data: []uint16{0x3c00, 0xc000, 0x3555}},
		{Name: "bf16", DType: safetensors.BF16, Data: []uint16{0x3f80}},
		{Name: "i16", Data: []int16{-2, 2, -3}},
		{Name: "u16", Data: []uint16{65535}},
		{Name: "i8", Data: []int8{-128}},
		{Name: "f32", Shape: []int{2, 3}, Data: []float32{1, 2, 3, 4, 5, 6.5}},
		{Name: "i32", Data: []int32{-7, 7, 1}},
		{Name: "u32", Data: []uint32{1 << 31}},
		{Name: "f64", Shape: []int{}, Data: []float64{0.1}},
		{Name: "i64", Data: []int64{-1 << 62}},
		{Name: "u64", Data: []uint64{1 << 63}},
		{Name: "none", Shape: []int{0, 4}, Data: []float32{}},
	}
}

func write(t *testing.T, tensors []safetensors.Tensor) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.safetensors")
	mattest.OK(t, safetensors.Write(t.Context(), path, map[string]string{"made": "here"}, tensors))
	return path
}

func open(t *testing.T, path string) *safetensors.File {
	t.Helper()
	f := mattest.Must(safetensors.Open(path))
	t.Cleanup(func() { f.Close() })
	return f
}

// equal checks a tensor of type E in a file. It ignores tensors of other types.
func equal[E safetensors.Element](t *testing.T, f *safetensors.File, want safetensors.Tensor) {
	t.Helper()
	data, is := want.Data.([]E)
	if !is {
		return
	}
	got, err := safetensors.Slice[E](f, want.Name)
	if err != nil || !slices.Equal(got, data) {
		t.Errorf("%s is %v, want %v; error %v", want.Name, got, data, err)
	}
	var e E
	if len(got) > 0 && uintptr(unsafe.Pointer(&got[0]))%unsafe.Alignof(e) != 0 {
		t.Errorf("%s is not aligned", want.Name)
	}
}

func TestRoundTrip(t *testing.T) {
	f := open(t, write(t, everyType()))
	mattest.Equal(t, f.Metadata["made"], "here", "metadata made is")
	for _, want := range everyType() {
		for _, check := range []func(*testing.T, *safetensors.File, safetensors.Tensor){
			equal[float64], equal[float32], equal[int64], equal[int32], equal[int16], equal[int8], equal[uint64],
			equal[uint32], equal[uint16], equal[uint8],
		} {
			check(t, f, want)
		}
		info, _ := f.Find(want.Name)
		if want.Shape != nil && !slices.Equal(info.Shape, want.Shape) {
			t.Errorf("%s has shape %v, want %v", want.Name, info.Shape, want.Shape)
		}
	}
	mattest.Fails(t, `"f64" is F64, expected F32`)(safetensors.Slice[float32](f, "f64"))
	mattest.Fails(t, "absent")(safetensors.Slice[float32](f, "absent"))
}

func TestFileIsCanonical(t *testing.T) {
	a := mattest.Must(os.ReadFile(write(t, everyType())))
	b := mattest.Must(os.ReadFile(write(t, everyType())))
	if !slices.Equal(a, b) {
		t.Error("equal tensors give different files")
	}
	if start := 8 + binary.LittleEndian.Uint64(a); start%64 != 0 {
		t.Errorf("data starts at byte %d, want a multiple of 64", start)
	}
	f := open(t, write(t, everyType()))
	end := int64(0)
	for _, info := range f.Tensors() {
		if info.Begin != end {
			t.Errorf("tensor %s begins at %d, want %d: the format allows no gap", info.Name, info.Begin, end)
		}
		end = info.End
	}
}

func TestMappedPagesArePrivate(t *testing.T) {
	path := write(t, everyType())
	x := mattest.Must(safetensors.Slice[float32](open(t, path), "f32"))
	x[0] = 99
	again := mattest.Must(safetensors.Slice[float32](open(t, path), "f32"))
	mattest.Equal(t, again[0], 1, "a change in memory reached the file")
}

func TestWriteIsAtomic(t *testing.T) {
	big := []safetensors.Tensor{{Name: "x", Data: make([]float32, 1<<20)}}
	path := write(t, everyType())
	before, _ := os.ReadFile(path)
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	ctx = progress.With(ctx, func(e progress.Event) {
		if calls++; calls == 2 {
			cancel()
		}
		if e.Stage != "writing t.safetensors" || e.Done <= 0 || e.Done > e.Total {
			t.Errorf("event %v", e)
		}
	})
	err := safetensors.Write(ctx, path, nil, big)
	if err == nil || calls > 3 {
		t.Errorf("error %v after %d blocks, want a cancelled write after the second", err, calls)
	}
	if after, _ := os.ReadFile(path); !slices.Equal(before, after) {
		t.Error("a cancelled write changed the file")
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("a cancelled write left %v", left)
	}
}

func numbers(end error, blocks ...[]float32) safetensors.Stream {
	return func(yield func([]float32, error) bool) {
		for _, b := range blocks {
			if !yield(b, nil) {
				return
			}
		}
		if end != nil {
			yield(nil, end)
		}
	}
}

func TestStreamsAreWritten(t *testing.T) {
	at := func(shape []int, data safetensors.Stream) (string, error) {
		path := filepath.Join(t.TempDir(), "t.safetensors")
		return path, safetensors.Write(t.Context(), path, nil, []safetensors.Tensor{
			{Name: "x", Shape: shape, Data: data}, {Name: "y", Data: []int64{7}},
		})
	}
	path := mattest.Must(at([]int{2, 2}, numbers(nil, []float32{1, 2, 3}, []float32{4})))
	mattest.Equal(t, mattest.Must(safetensors.Slice[float32](open(t, path), "x")), []float32{1, 2, 3, 4}, "x is")
	lost := errors.New("lost")
	for name, data := range map[string]safetensors.Stream{
		"too short": numbers(nil, []float32{1, 2, 3}), "too long": numbers(nil, []float32{1, 2, 3}, []float32{4, 5}),
		"broken": numbers(lost, []float32{1, 2, 3, 4}),
	} {
		if _, err := at([]int{2, 2}, data); err == nil || name == "broken" && !errors.Is(err, lost) {
			t.Errorf("a stream that is %s gives %v", name, err)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	for want, tensors := range map[string][]safetensors.Tensor{
		"takes 16 bytes, and its data has 4":   {{Name: "x", Shape: []int{2, 2}, Data: []float32{1}}},
		"type F16 from a []float32":            {{Name: "x", DType: safetensors.F16, Data: []float32{1}}},
		`name "x" is taken`:                    {{Name: "x", Data: []float32{1}}, {Name: "x", Data: []float32{1}}},
		`name "__metadata__" is taken`:         {{Name: "__metadata__", Data: []float32{1}}},
		"[]string, must be a slice of numbers": {{Name: "x", Data: []string{"1"}}},
	} {
		mattest.WantError(t, safetensors.Write(t.Context(), filepath.Join(t.TempDir(), "t"), nil, tensors), want)
	}
}

// raw writes a file with the given header and data.
func raw(t *testing.T, header string, data int) string {
	t.Helper()
	b := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	path := filepath.Join(t.TempDir(), "t.safetensors")
	mattest.OK(t, os.WriteFile(path, append(b, make([]byte, data)...), 0o600))
	return path
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct{ header, want string }{
		{`{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, "takes 8 bytes"},
		{`{"x":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}`, "within 0 to 8"},
		{`{"x":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}`, "within 0 to 8"},
		{`{"x":{"dtype":"F32","shape":[-1,-1],"data_offsets":[0,4]}}`, "negative side"},
		{`{"x":{"dtype":"F32","shape":[9223372036854775807,4],"data_offsets":[0,4]}}`, "too large"},
		{`{"x":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}}`, "F33"},
		{`{"x":{"dtype":"F32","shape":[1],"data_offsets":[0]}}`, "1 data_offsets"},
		{`{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"y":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}`,
			"overlap at byte 2"},
		{`{"__metadata__":{"a":1}}`, "map of strings"},
		{`[1, 2]`, "JSON object"},
		{`{"x":`, "JSON object"},
	} {
		mattest.Fails(t, c.want)(safetensors.Open(raw(t, c.header, 8)))
	}
	long := filepath.Join(t.TempDir(), "long")
	mattest.OK(t, os.WriteFile(long, []byte("\xff\xff\xff\xff\xff\xff\xff\xff{}"), 0o600))
	mattest.Fails(t, "header would have")(safetensors.Open(long))
	mattest.OK(t, os.WriteFile(long, []byte("\x01\x00\x00"), 0o600))
	mattest.Fails(t, "it has 3 bytes, must be at least 10")(safetensors.Open(long))
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"__metadata__":{"a":"b"}}`))
	f.Add([]byte(`{"x":{"dtype":"F64","shape":[0,3],"data_offsets":[8,8]}}`))
	f.Add([]byte(`{"x":{"dtype":"BOOL","shape":[],"data_offsets":[1,2]}}`))
	f.Fuzz(func(t *testing.T, header []byte) {
		file, err := safetensors.Open(raw(t, string(header), 16))
		if err != nil {
			return
		}
		defer file.Close()
		for _, info := range file.Tensors() {
			if info.DType == safetensors.F32 {
				x, err := safetensors.Slice[float32](file, info.Name)
				if err != nil || len(x) != info.Len() {
					t.Fatalf("%+v is in the header, and reading it gives %d elements and %v", info, len(x), err)
				}
			}
		}
	})
}

func TestPythonReadsOurs(t *testing.T) {
	tensors := slices.DeleteFunc(everyType(), func(t safetensors.Tensor) bool {
		return t.DType == safetensors.BF16 // numpy does not have this type
	})
	got := mattest.Python(t, "numpy, safetensors.numpy", `
import sys, safetensors
from safetensors.numpy import load_file
t = load_file(sys.argv[1])
print(t["f32"].tolist(), t["f16"].tolist(), t["i64"].tolist(), t["bool"].tolist(), t["none"].shape, t["f64"])
print(safetensors.safe_open(sys.argv[1], "np").metadata())`, write(t, tensors))
	want := "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]] [1.0, -2.0, 0.333251953125] [-4611686018427387904] " +
		"[True, False] (0, 4) 0.1\n{'made': 'here'}"
	mattest.Equal(t, got, want, "Python reads")
}

func TestWeReadPythons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.safetensors")
	mattest.Python(t, "numpy, safetensors.numpy", `
import sys, numpy as np
from safetensors.numpy import save_file
t = {"y": np.arange(5, dtype=np.int64), "x": np.ones((3, 2), np.float32) / 4, "odd": np.array([True])}
save_file(t, sys.argv[1], metadata={"a": "b"})`, path)
	f := open(t, path)
	mattest.Equal(t, mattest.Must(safetensors.Slice[float32](f, "x")), slices.Repeat([]float32{.25}, 6), "x is")
	mattest.Equal(t, mattest.Must(safetensors.Slice[int64](f, "y")), []int64{0, 1, 2, 3, 4}, "y is")
	mattest.Equal(t, f.Metadata["a"], "b", "metadata a is")
}
