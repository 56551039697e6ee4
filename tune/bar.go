package tune

import (
	"math"
	"slices"

	"github.com/graph-condensation/cgc/experiment"
)

// result gathers what there is, and decides.
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

// trial returns a trial as results have it.
func (w *searcher) trial(t trial) Trial {
	return Trial{w.space.at(t.point), w.space.changes(t.point), w.priors[t.key()].Name, t.Verdict}
}

// margin is the number of standard errors by which a candidate must be ahead of the base: it was picked among many, on
// the same validation nodes.
const margin = 1.5

// lead returns the mean of a − b over the n repetitions that both have, and how much of it may be chance: margin
// standard errors. rightA and rightB tell, for each repetition and validation node, how many models find the node's
// class.
//
// The variance has two parts, s²/n + v/m.
//
//	s²: of the differences over condensation seeds. A few repetitions say little about s, so s is at least half a point;
//	    with one repetition it is one point.
//	v:  of the difference in how often a node is found, over the m validation nodes: others could have been drawn. On a
//	    few hundred nodes this part is the larger one.
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
