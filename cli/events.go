package cli

import (
	"encoding/json"
	"io"
	"os"
	"time"
)

// progressVariable is set to "json" by a program that shows the progress itself.
const progressVariable = "CGC_PROGRESS"

// eventInterval is the least time from one line of progress to the next of the same stage.
const eventInterval = 100 * time.Millisecond

// events writes progress as lines of JSON. Its user makes sure that calls do not overlap.
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

// tell writes {"stage": …, "done": …, "total": …}; total is 0 if it is not known. A nil e writes nothing.
func (e *events) tell(stage string, done, total int64) {
	if e == nil || stage == e.stage && done < total && time.Since(e.last) < eventInterval {
		return
	}
	e.stage, e.last = stage, time.Now()
	// The one who reads may be gone. The work goes on without him.
	_ = e.to.Encode(struct {
		Stage string `json:"stage"`
		Done  int64  `json:"done"`
		Total int64  `json:"total"`
	}{stage, done, total})
}
