package report

// Figure is a plot of values with their spread. Package report/chart draws it.
type Figure struct {
	// Name is that of the figure's file, without a folder and an extension; empty if it has none.
	Name  string
	Title string
	// X and Y name the axes, with the unit.
	X, Y string
	// Words stand at 0, 1, … of the horizontal axis, instead of numbers; nil for numbers.
	Words []string
	// LogX and LogY make an axis logarithmic; its values are above 0.
	LogX, LogY bool
	Series     []Series
}

// Series is one line or one set of marks of a Figure.
type Series struct {
	Name string
	// X and Y have one entry for each point. Points whose Y is not a number are left out.
	X, Y []float64
	// Std is half the length of the error bar of each point; nil, or 0, for none.
	Std []float64
	// Labels stand beside the points; nil for none.
	Labels []string
	// Style picks the shape and the colour of the marks, from 0; they repeat after six. Shapes differ without colour.
	Style int
	// Hollow draws the marks as outlines and the line dashed: for numbers of others.
	Hollow bool
	// Joined draws a line through the points.
	Joined bool
}
