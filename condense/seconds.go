package condense

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/graph-condensation/cgc/internal/object"
	"github.com/graph-condensation/cgc/progress"
)

// Seconds is the wall-clock time of a condensation, in seconds. Its JSON is one object with a key for each step, in
// order, and then "condense" for Total.
type Seconds struct {
	// Steps are the parts of the method, in order. Time between steps counts only in Total.
	Steps []Step
	// Total is the time from the graph in memory to the condensed graph in memory.
	Total float64
}

// Step is the time of one part.
type Step struct {
	Name    string
	Seconds float64
}

// totalKey is the JSON key of Seconds.Total.
const totalKey = "condense"

// Of returns the seconds of a step, or 0 if there is no such step.
func (s Seconds) Of(step string) float64 {
	for _, p := range s.Steps {
		if p.Name == step {
			return p.Seconds
		}
	}
	return 0
}

// MarshalJSON writes one object: a key for each step, in order, and then the total.
func (s Seconds) MarshalJSON() ([]byte, error) {
	var o object.Object
	for _, p := range append(s.Steps[:len(s.Steps):len(s.Steps)], Step{totalKey, s.Total}) {
		seconds, err := json.Marshal(p.Seconds)
		if err != nil {
			return nil, err
		}
		o = append(o, object.Field{Key: p.Name, Value: seconds})
	}
	return o.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	*s = Seconds{}
	o, err := object.Parse(text)
	if err != nil {
		return fmt.Errorf("seconds: %w", err)
	}
	for _, f := range o {
		var seconds float64
		if err := json.Unmarshal(f.Value, &seconds); err != nil {
			return err
		}
		if f.Key == totalKey {
			s.Total = seconds
			continue
		}
		s.Steps = append(s.Steps, Step{f.Key, seconds})
	}
	return nil
}

// Clock measures the steps of a method. It reports each step as it begins (package progress).
type Clock struct {
	ctx     context.Context
	begun   time.Time
	earlier float64 // seconds of shared steps, measured before
	seconds Seconds
}

// StartClock returns a running clock. The given steps are listed in this order; a step that never runs has 0 seconds.
func StartClock(ctx context.Context, steps ...string) *Clock {
	c := &Clock{ctx: ctx, begun: time.Now()}
	for _, name := range steps {
		c.seconds.Steps = append(c.seconds.Steps, Step{Name: name})
	}
	return c
}

// Add adds the time of steps that another clock measured before.
func (c *Clock) Add(earlier Seconds) {
	c.earlier += earlier.Total
	for _, p := range earlier.Steps {
		if p.Seconds > 0 {
			*c.step(p.Name) += p.Seconds
		}
	}
}

// Step begins a step and returns the function that ends it.
func (c *Clock) Step(name string) (done func()) {
	progress.Report(c.ctx, progress.Event{Stage: name})
	begun := time.Now()
	return func() { *c.step(name) += time.Since(begun).Seconds() }
}

// step returns a pointer to the seconds of a step.
func (c *Clock) step(name string) *float64 {
	for i := range c.seconds.Steps {
		if p := &c.seconds.Steps[i]; p.Name == name {
			return &p.Seconds
		}
	}
	c.seconds.Steps = append(c.seconds.Steps, Step{Name: name})
	return &c.seconds.Steps[len(c.seconds.Steps)-1].Seconds
}

// Stop returns the seconds so far.
func (c *Clock) Stop() Seconds {
	c.seconds.Total = c.earlier + time.Since(c.begun).Seconds()
	return c.seconds
}
