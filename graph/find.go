package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Find returns the nodes with the given ids, ascending and each once. The id of a node without a name is its number.
// Spaces around an id are ignored, unless a name has them. The error names the ids that no node has, or an id that two
// nodes have.
func (g *Graph) Find(ids []string) ([]int32, error) {
	number := map[string]int32{} // only of the given ids, because a graph may have very many
	for _, id := range ids {
		number[id], number[strings.TrimSpace(id)] = -1, -1
	}
	for v, id := range g.IDs {
		if before, given := number[id]; given {
			if before >= 0 {
				return nil, fmt.Errorf("nodes %d and %d have the same id %q, must be one node", before, v, id)
			}
			number[id] = int32(v)
		}
	}
	var nodes []int32
	var unknown []string
	for _, id := range ids {
		short := strings.TrimSpace(id) // text formats drop the spaces around ids
		v := number[id]
		if v < 0 {
			v = number[short]
		}
		if n, err := strconv.Atoi(short); g.IDs == nil && err == nil && 0 <= n && n < g.Nodes() {
			v = int32(n)
		}
		if v >= 0 {
			nodes = append(nodes, v)
		} else if id = strconv.Quote(id); !slices.Contains(unknown, id) {
			unknown = append(unknown, id)
		}
	}
	if count := len(unknown); count > 0 {
		const most = 5
		more := ""
		if count > most {
			unknown, more = unknown[:most], fmt.Sprintf(" and %d more", count-most)
		}
		return nil, fmt.Errorf("there is no node %s%s", strings.Join(unknown, ", "), more)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), nil
}
