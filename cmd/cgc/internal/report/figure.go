package report

// Figure is a plot of values with their spread.
type Figure struct {
	// Name is the name of the figure's file without folder and extension; empty if it has no file.
	Name  string
	Title string
	// X and Y name the axes, with the unit.
	X, Y string
	// Words label the positions 0, 1, … of the horizontal axis. nil means an axis of numbers.
	Words []string
	// LogX and LogY make an axis logarithmic. Its values must be above 0.
	LogX, LogY bool
	Series     []Series
}

// Series is one line or one set of marks of a Figure.
type Series struct {
	Name string
	// X and Y have one entry for each point. Points whose Y is NaN are not drawn.
	X, Y []float64
	// Std is half the length of the error bar of each point. nil or 0 means no error bar.
	Std []float64
	// Labels are drawn next to the points. nil means no labels.
	Labels []string
	// Style is the number of the shape and colour of the marks, from 0. Styles repeat after six. Shapes differ so that
	// marks can be distinguished without colour.
	Style int
	// Hollow draws the marks as outlines and the line dashed, for published numbers.
	Hollow bool
	// Joined draws a line through the points.
	Joined bool
}
