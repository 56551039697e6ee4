package tune

import (
	"math"
	"slices"

	"github.com/graph-condensation/cgc/experiment"
)

// result collects the outcome, and chooses the best candidate.
func (w *searcher) result() *Result {
	r := &Result{Best: Trial{Candidate: w.Base}, Trainings: w.trainings}
	for _, t := range w.ranked {
		r.Ranked = append(r.Ranked, w.trial(t))
		if prior, is := w.priors[t.key()]; is {
			r.Priors = append(r.Priors, prior)
		}
	}
	for i, t := range w.confirmed {
		f := Finalist{Trial: w.trial(t)}
		for _, v := range w.scores[t.key()] {
			if math.IsNaN(v) || i < w.final && len(f.Val) == w.repeats {
				break
			}
			f.Val = append(f.Val, v)
		}
		r.Confirmed = append(r.Confirmed, f)
	}
	if w.final == 0 {
		if len(r.Ranked) > 0 {
			r.Best = r.Ranked[0]
		}
		return r
	}
	last := r.Confirmed[:min(w.final, len(r.Confirmed))]
	base := slices.IndexFunc(last, func(f Finalist) bool { return len(f.Changes) == 0 })
	if base < 0 {
		return r
	}
	r.Best = last[base].Trial
	behind := w.right[w.confirmed[base].key()]
	first := true
	for i, challenger := range last {
		if i == base {
			continue
		}
		gain, noise := lead(challenger.Val, last[base].Val, w.right[w.confirmed[i].key()], behind, len(w.Models))
		if first || gain > noise {
			r.Gain, r.Noise, first = gain, noise, false
		}
		if gain > noise {
			r.Best = challenger.Trial
			break
		}
	}
	return r
}

// trial converts a ranked trial to a Trial of the result.
func (w *searcher) trial(t trial) Trial {
	return Trial{w.space.at(t.point), w.space.changes(t.point), w.priors[t.key()].Name, t.Verdict}
}

// margin is the number of standard errors by which a candidate must beat the base. It compensates for picking the
// candidate among many on the same validation nodes.
const margin = 1.5

// lead returns the mean of a − b over their n common repetitions, and margin times its standard error. rightA and
// rightB hold, for each repetition and validation node, the number of models that classify the node correctly.
//
// The variance has two parts, s²/n + v/m.
//
//	s²: the variance of the differences over condensation seeds. A few repetitions estimate s poorly, so it is set to
//	    at least half a point, and to one point for one repetition.
//	v:  the variance, over the m validation nodes, of the difference in how often a node is classified correctly.
//	    With a few hundred nodes this part is the larger one.
func lead(a, b []float64, rightA, rightB [][]int, models int) (gain, noise float64) {
	n := min(len(a), len(b))
	differences := make([]float64, n)
	nodes := make([]float64, len(rightA[0]))
	for i := range differences {
		differences[i] = a[i] - b[i]
		for v := range nodes {
			nodes[v] += 100 * float64(rightA[i][v]-rightB[i][v]) / float64(n*models)
		}
	}
	over := experiment.EstimateOf(differences)
	std := over.Std
	if n < 2 {
		std = 1
	}
	std = max(0.5, std)
	spread := experiment.EstimateOf(nodes).Std
	return over.Mean, margin * math.Sqrt(std*std/float64(n)+spread*spread/float64(len(nodes)))
}
