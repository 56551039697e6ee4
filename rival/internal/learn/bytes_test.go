package learn_test

import (
	"testing"

	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// TestReached checks that Reached counts the nodes that Near returns.
func TestReached(t *testing.T) {
	s := learntest.Begin(t)
	each, all := learn.Reached(s.Graph)
	for c, nodes := range s.Train {
		if near, _ := learn.Near(s.Graph.Adj, nodes); len(near) != each[c] {
			t.Errorf("class %d reaches %d nodes, want %d", c, each[c], len(near))
		}
	}
	nodes, _ := s.Labelled()
	if near, _ := learn.Near(s.Graph.Adj, nodes); len(near) != all {
		t.Errorf("%d nodes are reached, want %d", all, len(near))
	}
}
