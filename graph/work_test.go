package graph_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// drawnBuilder returns a builder with several chunks of edges in no order.
func drawnBuilder() *graph.Builder {
	const nodes, edges = 1000, 3<<20 + 5
	src := rand.New(rand.NewPCG(1, 2))
	b := &graph.Builder{X: mat.NewDense(nodes, 1)}
	for range edges {
		b.AddEdge(src.IntN(nodes), src.IntN(nodes))
	}
	return b
}

// TestGraphReports checks that progress counts each chunk up to the total.
func TestGraphReports(t *testing.T) {
	var events []progress.Event
	_, _, err := drawnBuilder().Graph(progress.With(t.Context(), func(e progress.Event) {
		events = append(events, e)
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(events) < 12 {
		t.Fatalf("%d events, want one for each chunk of each pass", len(events))
	}
	least, last := events[0].Total, events[0]
	for _, e := range events {
		if e.Total != least || e.Done < 0 || e.Done > e.Total {
			t.Fatalf("event %+v, want at most %d of %d", e, least, least)
		}
		last = progress.Event{Stage: e.Stage, Done: max(last.Done, e.Done), Total: e.Total}
	}
	if float64(last.Done) < 0.99*float64(last.Total) {
		t.Errorf("the count ends at %d of %d", last.Done, last.Total)
	}
}

// TestGraphStops checks that cancellation after any number of chunks gives an error and no graph.
func TestGraphStops(t *testing.T) {
	b := drawnBuilder()
	for after := range 14 {
		if after%4 > 1 && !slow.On() {
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		count := 0
		g, _, err := b.Graph(progress.With(ctx, func(progress.Event) {
			if count++; count > after {
				cancel()
			}
		}))
		if g != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("stopped after %d chunks: graph %v, error %v", after, g != nil, err)
		}
		cancel()
	}
}
