package report

import "encoding/json"

// MarshalJSON writes the plot as JSON has it, with the key "kind". Values of Bars that are not finite are null.
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
				s.Name, finites(s.Values), finites(s.Low), finites(s.High), s.Tick, s.Detail, s.Digits,
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
	Label  []string  `json:"label"`
	Detail []string  `json:"detail,omitempty"`
}

func marksOf(m *Marks) jsonMarks {
	return jsonMarks{m.Name, m.Noun, append([]int32{}, m.Class...), m.Size, append([]string{}, m.Label...), m.Detail}
}

type jsonLayer struct {
	jsonMarks
	Owner []int32 `json:"owner,omitempty"`
}

type jsonSeries struct {
	Name   string   `json:"name"`
	Values []any    `json:"values"`
	Low    []any    `json:"low,omitempty"`
	High   []any    `json:"high,omitempty"`
	Tick   bool     `json:"tick,omitempty"`
	Detail []string `json:"detail,omitempty"`
	Digits int      `json:"digits"`
}

type jsonSheet struct {
	Name   string  `json:"name"`
	Values [][]int `json:"values"`
	Signed bool    `json:"signed,omitempty"`
}

// finites returns the numbers of a list, with nil for those that JSON has no word for.
func finites(list []float64) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = finite(v)
	}
	return out
}
