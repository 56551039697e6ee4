package report

import (
	"encoding/json"
	"errors"
	"math"
)

// Numbers is a list of numbers. Numbers that are not finite count as missing, and become null in JSON.
type Numbers []float64

// MarshalJSON writes a list.
func (n Numbers) MarshalJSON() ([]byte, error) {
	list := make([]any, len(n))
	for i, v := range n {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			list[i] = v
		}
	}
	return json.Marshal(list)
}

// MarshalJSON writes the plot for the scripts of a page: an object with the fields of Data and the key "kind".
func (p *Plot) MarshalJSON() ([]byte, error) {
	head, err := json.Marshal(struct {
		Kind    string `json:"kind"`
		Name    string `json:"name,omitempty"`
		Title   string `json:"title"`
		Caption string `json:"caption,omitempty"`
	}{p.Data.kind(), p.Name, p.Title, p.Caption})
	data, err2 := json.Marshal(p.Data)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	head[len(head)-1] = ','
	return append(head, data[1:]...), nil
}

// MarshalJSON writes the series with the texts of its values and intervals, so that rounding is done in one place.
func (s BarSeries) MarshalJSON() ([]byte, error) {
	texts := make([][2]string, len(s.Values))
	for i, v := range s.Values {
		if !math.IsNaN(v) {
			texts[i] = [2]string{Decimal(v, s.Digits).Text, s.interval(i).Text}
		}
	}
	return json.Marshal(struct {
		Name    string      `json:"name"`
		Values  Numbers     `json:"values"`
		Samples [][]float64 `json:"samples,omitempty"`
		Low     Numbers     `json:"low,omitempty"`
		High    Numbers     `json:"high,omitempty"`
		Texts   [][2]string `json:"texts"`
		Tick    bool        `json:"tick,omitempty"`
		Detail  []string    `json:"detail,omitempty"`
	}{s.Name, s.Values, s.Samples, s.Low, s.High, texts, s.Tick, s.Detail})
}
