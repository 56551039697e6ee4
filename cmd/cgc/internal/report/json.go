package report

import (
	"encoding/json"
	"math"
)

// MarshalJSON writes the figure for the scripts of a page, with the key "kind". Numbers that are not finite become
// null.
func (f *Figure) MarshalJSON() ([]byte, error) {
	type series struct {
		Name string `json:"name"`
		X    []any  `json:"x"`
		Y    []any  `json:"y"`
		Std  []any  `json:"std,omitempty"`
		// Style, Hollow and Joined are as in Series.
		Style  int  `json:"style,omitempty"`
		Hollow bool `json:"hollow,omitempty"`
		Joined bool `json:"joined,omitempty"`
	}
	object := struct {
		Kind   string   `json:"kind"`
		Name   string   `json:"name,omitempty"`
		Title  string   `json:"title"`
		X      string   `json:"x"`
		Y      string   `json:"y"`
		Words  []string `json:"words,omitempty"`
		LogX   bool     `json:"log_x,omitempty"`
		LogY   bool     `json:"log_y,omitempty"`
		Series []series `json:"series"`
	}{"figure", f.Name, f.Title, f.X, f.Y, f.Words, f.LogX, f.LogY, []series{}}
	for _, s := range f.Series {
		object.Series = append(object.Series, series{
			s.Name, finites(s.X), finites(s.Y), finites(s.Std), s.Style, s.Hollow, s.Joined,
		})
	}
	return json.Marshal(object)
}

// MarshalJSON writes the plot for the scripts of a page, with the key "kind": "scatter", "network", "bars" or
// "heatmap". Values of Bars that are not finite become null.
func (p *Plot) MarshalJSON() ([]byte, error) {
	type head struct {
		Kind    string `json:"kind"`
		Name    string `json:"name,omitempty"`
		Title   string `json:"title"`
		Caption string `json:"caption,omitempty"`
	}
	of := func(kind string) head { return head{kind, p.Name, p.Title, p.Caption} }
	switch data := p.Data.(type) {
	case *Scatter:
		object := struct {
			head
			Classes []string    `json:"classes"`
			Views   []jsonView  `json:"views"`
			Layers  []jsonLayer `json:"layers"`
		}{of("scatter"), data.Classes, []jsonView{}, []jsonLayer{}}
		for _, v := range data.Views {
			object.Views = append(object.Views, jsonView(v))
		}
		for _, l := range data.Layers {
			object.Layers = append(object.Layers, jsonLayer{marksOf(&l.Marks), l.Owner})
		}
		return json.Marshal(object)
	case *Network:
		return json.Marshal(struct {
			head
			Classes []string     `json:"classes"`
			Marks   jsonMarks    `json:"marks"`
			At      [][2]float64 `json:"at"`
			Radius  float64      `json:"radius"`
			Links   [][2]int32   `json:"links"`
			Weight  []float64    `json:"weight,omitempty"`
		}{
			of("network"), data.Classes, marksOf(&data.Marks), data.At, data.Radius, append([][2]int32{}, data.Links...),
			data.Weight,
		})
	case *Bars:
		object := struct {
			head
			Axis   string       `json:"axis"`
			Rows   []string     `json:"rows"`
			Points bool         `json:"points,omitempty"`
			Series []jsonSeries `json:"series"`
		}{of("bars"), data.Axis, data.Rows, data.Points, []jsonSeries{}}
		for _, s := range data.Series {
			object.Series = append(object.Series, jsonSeries{
				s.Name, finites(s.Values), s.Samples, finites(s.Low), finites(s.High), s.texts(), s.Tick, s.Detail,
			})
		}
		return json.Marshal(object)
	case *Heatmap:
		object := struct {
			head
			X       string      `json:"x"`
			Y       string      `json:"y"`
			Rows    []string    `json:"rows"`
			Columns []string    `json:"columns"`
			Sheets  []jsonSheet `json:"sheets"`
		}{of("heatmap"), data.X, data.Y, data.Rows, data.Columns, []jsonSheet{}}
		for _, s := range data.Sheets {
			object.Sheets = append(object.Sheets, jsonSheet(s))
		}
		return json.Marshal(object)
	}
	return json.Marshal(of("plot"))
}

type jsonView struct {
	Name string         `json:"name"`
	X    string         `json:"x"`
	Y    string         `json:"y"`
	At   [][][2]float64 `json:"at"`
}

type jsonMarks struct {
	Name   string    `json:"name"`
	Noun   string    `json:"noun"`
	Class  []int32   `json:"class"`
	Size   []float64 `json:"size,omitempty"`
	Unit   string    `json:"unit,omitempty"`
	Label  []string  `json:"label"`
	Detail []string  `json:"detail,omitempty"`
}

func marksOf(m *Marks) jsonMarks {
	return jsonMarks{
		m.Name, m.Noun, append([]int32{}, m.Class...), m.Size, m.Unit, append([]string{}, m.Label...), m.Detail,
	}
}

type jsonLayer struct {
	jsonMarks
	Owner []int32 `json:"owner,omitempty"`
}

type jsonSeries struct {
	Name    string      `json:"name"`
	Values  []any       `json:"values"`
	Samples [][]float64 `json:"samples,omitempty"`
	Low     []any       `json:"low,omitempty"`
	High    []any       `json:"high,omitempty"`
	// Texts are the values and their intervals as in Table, so that rounding is done in one place.
	Texts  [][2]string `json:"texts"`
	Tick   bool        `json:"tick,omitempty"`
	Detail []string    `json:"detail,omitempty"`
}

func (s *BarSeries) texts() [][2]string {
	texts := make([][2]string, len(s.Values))
	for i, v := range s.Values {
		if !math.IsNaN(v) {
			texts[i] = [2]string{Decimal(v, s.Digits).Text, s.interval(i).Text}
		}
	}
	return texts
}

type jsonSheet struct {
	Name   string  `json:"name"`
	Values [][]int `json:"values"`
	Signed bool    `json:"signed,omitempty"`
}

// finites returns the numbers of a list, with nil for numbers that are not finite.
func finites(list []float64) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = finite(v)
	}
	return out
}

// finite returns v, or nil for a number that is not finite, which JSON cannot represent.
func finite(v any) any {
	if f, is := v.(float64); is && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil
	}
	return v
}
