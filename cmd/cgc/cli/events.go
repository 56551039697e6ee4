package cli

import (
	"encoding/json"
	"io"
	"os"
	"time"
)

// progressVariable names the environment variable that is set to "json" by programs that show the progress themselves.
const progressVariable = "CGC_PROGRESS"

// eventInterval is the minimum time between two progress lines of one stage.
const eventInterval = 100 * time.Millisecond

// events writes progress as lines of JSON. Calls must not overlap.
type events struct {
	to    *json.Encoder
	stage string
	last  time.Time
}

// newEvents returns nil unless the environment asks for lines of JSON.
func newEvents(to io.Writer) *events {
	if os.Getenv(progressVariable) != "json" {
		return nil
	}
	return &events{to: json.NewEncoder(to)}
}

// tell writes {"stage": …, "done": …, "total": …}; total is 0 if unknown. A nil e writes nothing.
func (e *events) tell(stage string, done, total int64) {
	if e == nil || stage == e.stage && done < total && time.Since(e.last) < eventInterval {
		return
	}
	e.stage, e.last = stage, time.Now()
	// If the reader has exited, the work continues without it.
	_ = e.to.Encode(struct {
		Stage string `json:"stage"`
		Done  int64  `json:"done"`
		Total int64  `json:"total"`
	}{stage, done, total})
}
