package autodiff

// These operations are used only by gradients.

func (t *Tape) RepeatRow(x *Var, rows int) *Var              { return t.repeatRow(x, rows) }
func (t *Tape) EdgeSums(e *Edges, x *Var, flip bool) *Var    { return t.edgeSums(e, x, flip) }
func (t *Tape) EdgeDots(e *Edges, x, y *Var, heads int) *Var { return t.edgeDots(e, x, y, heads) }
