package cgc

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// HopWeights are the w_0 … w_K of Config.HopWeights.
type HopWeights []float64

// Set reads numbers between commas: the command's flag. Nothing between them is no weights.
func (w *HopWeights) Set(text string) error {
	var read HopWeights
	for field := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil {
			return fmt.Errorf("hop weights %q, want numbers as in 0.2,0.3,0.5", text)
		}
		read = append(read, v)
	}
	*w = read
	return nil
}

// String writes w as Set reads it.
func (w HopWeights) String() string {
	words := make([]string, len(w))
	for i, v := range w {
		words[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strings.Join(words, ",")
}

// Type is the word for the value in the command's help.
func (w HopWeights) Type() string { return "number,…" }

// fit says whether w are none, or weights for so many hops.
func (w HopWeights) fit(hops int) bool {
	sum := 0.0
	for _, v := range w {
		if !(v >= 0) {
			return false
		}
		sum += v
	}
	return len(w) == 0 || len(w) == hops+1 && sum > 0 && !math.IsInf(sum, 1)
}

// shares returns the weights divided by their sum, those of the last hop alone if there are none.
func (w HopWeights) shares(hops int) []float64 {
	if len(w) == 0 {
		last := make([]float64, hops+1)
		last[hops] = 1
		return last
	}
	sum := 0.0
	for _, v := range w {
		sum += v
	}
	shares := make([]float64, len(w))
	for l, v := range w {
		shares[l] = v / sum
	}
	return shares
}

// mixed returns H⁽⁰⁾ … H⁽ᴷ⁾ and their confidence, if the lower ones are drawn from, with Σ_l w_l·H⁽ˡ⁾ and what the classifier says of it in the place of H⁽ᴷ⁾.
func (p *Prepared) mixed(config Config, drawn bool) (h []mat.View, confidence [][]float32) {
	h, confidence = p.h, p.confidence(drawn)
	if len(config.HopWeights) == 0 {
		return h, confidence
	}
	mixture := propagate.Mix(h, config.HopWeights.shares(config.Hops)).View()
	last := len(h) - 1
	h = slices.Clone(h)
	h[last], confidence[last] = mixture, p.assessment.Of(mixture, p.y)
	return h, confidence
}
