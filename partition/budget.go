package partition

import "fmt"

// Budgets distributes total condensed nodes over the classes in proportion to counts, the numbers of their training
// nodes (in the paper, |C′_i| and |C_i|).
//
// A class with n_i of all n nodes gets ⌊total·n_i/n⌋, but at least 1. The largest class (the last one if several are
// equal) gets the remaining nodes. If it would get none, or more than it has training nodes, single nodes move to or
// from the classes that are furthest from their share. Every class with training nodes then has between 1 and n_i
// condensed nodes, other classes have none, and the sum is total.
//
// It is an error if total is below the number of classes with training nodes or above n, or if a count is negative.
func Budgets(counts []int, total int) ([]int, error) {
	present, nodes, largest := 0, 0, 0
	for c, n := range counts {
		if n < 0 {
			return nil, fmt.Errorf("class %d has %d training nodes, must have 0 or more", c, n)
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
		return nil, fmt.Errorf("no class has a training node")
	}
	if total < present || total > nodes {
		return nil, fmt.Errorf("%d condensed nodes, "+
			"must be %d (the classes with training nodes) to %d (the training nodes)", total, present, nodes)
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
	// move adds step (+1 or −1) to the budget of a class other than the largest: the one furthest from its share that can
	// still change.
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
