package condense_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/progress"
)

func TestSecondsJSON(t *testing.T) {
	want := condense.Seconds{Steps: []condense.Step{{"propagate", 0.5}, {"a \"b\"", 0}, {"assess", 0.25}}, Total: 1.5}
	text := mattest.Must(json.Marshal(want))
	if s := `{"propagate":0.5,"a \"b\"":0,"assess":0.25,"condense":1.5}`; string(text) != s {
		t.Errorf("%s, want %s", text, s)
	}
	got := condense.Seconds{Total: 9}
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read back as %+v, error %v, want %+v", got, err, want)
	}
	for _, bad := range []string{`[]`, `1`, `{"a":"b"}`, `{"a"`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("seconds %s are read", bad)
		}
	}
}

// Steps keep the order in which StartClock lists them, even if they never run. Steps of another clock are added.
func TestClock(t *testing.T) {
	var stages []string
	ctx := progress.With(t.Context(), func(e progress.Event) { stages = append(stages, e.Stage) })
	clock := condense.StartClock(ctx, "a", "b", "c")
	clock.Add(condense.Seconds{Steps: []condense.Step{{"b", 100}, {"c", 0}, {"early", 50}}, Total: 1000})
	for _, step := range []string{"c", "late", "c"} {
		clock.Step(step)()
	}
	s := clock.Stop()
	var names []string
	for _, step := range s.Steps {
		names = append(names, step.Name)
	}
	mattest.Equal(t, names, []string{"a", "b", "c", "early", "late"}, "steps")
	if s.Of("a") != 0 || s.Of("b") != 100 || s.Of("early") != 50 || s.Of("none") != 0 || s.Total < 1000 {
		t.Errorf("%+v, want b 100, early 50 and a total of 1000 and more", s)
	}
	if want := []string{"c", "late", "c"}; !slices.Equal(stages, want) {
		t.Errorf("stages %v were reported, want %v", stages, want)
	}
}
