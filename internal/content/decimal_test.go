package content_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/content"
)

// TestFloat compares parsed numbers with the results of strconv, bit for bit: hard cases, and random ones in every
// notation.
func TestFloat(t *testing.T) {
	texts := []string{
		"0", "-0", "0.0", "-0.000", "1", "-1", "1.", ".5", "-.5", "007", "1e5", "1E5", "1e+5", "1e-5", "-1.25e-03",
		"3.4028235e38", "1e22", "1e23", "1e-22", "1e-23", "1e-40", "1.17549435e-38", "1.1754942e-38", "1e-45",
		"123456789012345", "1234567890123456", "0.000000000000001", "0.0000000000000001", "0e300", "16777217",
		"16777219", "16777217.0000001", "33554434.5", "1.00000005960464", "1.000000059604644775390625",
		"1.000000178813934", "9007199254740993", "1e038", "1e0000", "inf", "-Infinity", "nan", "0x1p-3", "1e39", "",
		"-", "+1", ".", "-.", "e5", "1e", "1e+", "1e-", "1e5x", "1x", "1..2", "1.2.3", "--1", "1-", "1e1.5",
		"٣", " 1.5 ", " ", "1e+-5", "1e-+5", "1e++5", "1e00005",
	}
	random := rand.New(rand.NewPCG(2, 2))
	for range 20_000 {
		v := math.Float32frombits(random.Uint32())
		texts = append(texts, strconv.FormatFloat(float64(v), "efg"[random.IntN(3)], -1, 32),
			strconv.FormatFloat(random.NormFloat64(), 'f', random.IntN(16), 64))
		// Numbers halfway between two float32s, exactly or as nearly as 15 digits allow.
		w := float32(random.IntN(1<<23) + 1<<23)
		middle := (float64(w) + float64(math.Nextafter32(w, math.MaxFloat32))) / 2 / float64(int(1)<<random.IntN(24))
		texts = append(texts, strconv.FormatFloat(middle, 'f', -1, 64), strconv.FormatFloat(middle, 'e', 14, 64))
	}
	for _, text := range texts {
		want, wrong := strconv.ParseFloat(strings.TrimSpace(text), 32)
		got, err := content.Float([]byte(text))
		if (err != nil) != (wrong != nil) || math.Float32bits(got) != math.Float32bits(float32(want)) && wrong == nil {
			t.Errorf("%q is read as %v, %v; want %v, %v", text, got, err, float32(want), wrong)
		}
	}
}

// TestNoUnderscores checks that codes, which strconv accepts, are not numbers.
func TestNoUnderscores(t *testing.T) {
	for _, text := range []string{"2020_01", "1_0.5", "1_000"} {
		if v, err := content.Float([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, v)
		}
	}
}

func TestInt(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "-007": -7, "999999999999999999": 999999999999999999} {
		if v, err := content.Int([]byte(text)); v != want || err != nil {
			t.Errorf("%s is read as %d, %v", text, v, err)
		}
	}
	for _, text := range []string{"", "-", "+1", "1.0", " 1", "1234567890123456789"} {
		if v, err := content.Int([]byte(text)); err == nil {
			t.Errorf("%q is read as %d", text, v)
		}
	}
}
