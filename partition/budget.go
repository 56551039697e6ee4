package partition

import "fmt"

// Budgets shares total condensed nodes out over the classes in proportion to counts, their numbers of training nodes
// (the paper's |C′_i| for |C_i|).
//
// A class with n_i of all n nodes gets ⌊total·n_i/n⌋, but at least 1. The largest class (of several, the last) takes
// what remains. If that would be more nodes than it has, or none, single nodes move to or from the classes that are
// furthest from their share. So every class has between 1 and n_i condensed nodes, an absent class none, and the sum is
// total.
//
// The error says that total is below the number of classes present or above n, or that a count is negative.
func Budgets(counts []int, total int) ([]int, error) {
	present, nodes, largest := 0, 0, 0
	for c, n := range counts {
		if n < 0 {
			return nil, fmt.Errorf("partition: class %d has %d training nodes, want 0 or more", c, n)
		}
		if n > 0 {
			present++
		}
		if n >= counts[largest] {
			largest = c
		}
		nodes += n
	}
	if nodes == 0 {
		return nil, fmt.Errorf("partition: no class has a training node")
	}
	if total < present || total > nodes {
		return nil, fmt.Errorf("partition: %d condensed nodes, "+
			"want %d (the classes with training nodes) to %d (the training nodes)", total, present, nodes)
	}
	share := func(c int) float64 { return float64(counts[c]) * float64(total) / float64(nodes) }
	budgets := make([]int, len(counts))
	rest := total
	for c, n := range counts {
		if n > 0 && c != largest {
			budgets[c] = max(1, int(int64(n)*int64(total)/int64(nodes)))
			rest -= budgets[c]
		}
	}
	// move gives step (+1 or −1) to the class, other than the largest, that may take it and is furthest from its share.
	move := func(step int) {
		best, furthest := -1, 0.0
		for c, n := range counts {
			b := budgets[c] + step
			if n == 0 || c == largest || b < 1 || b > n {
				continue
			}
			if gap := float64(step) * (share(c) - float64(budgets[c])); best < 0 || gap > furthest {
				best, furthest = c, gap
			}
		}
		budgets[best] += step
	}
	for ; rest > counts[largest]; rest-- {
		move(+1)
	}
	for ; rest < 1; rest++ {
		move(-1)
	}
	budgets[largest] = rest
	return budgets, nil
}
