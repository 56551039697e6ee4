// Package builtin registers the formats of this project, in the order in which lists name them. Package dataset and
// package condense import it, so that nobody needs a blank import.
package builtin

import (
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/arrays"
	"github.com/graph-condensation/cgc/dataset/format/dgl"
	"github.com/graph-condensation/cgc/dataset/format/graphml"
	"github.com/graph-condensation/cgc/dataset/format/mtx"
	"github.com/graph-condensation/cgc/dataset/format/named"
	"github.com/graph-condensation/cgc/dataset/format/native"
	"github.com/graph-condensation/cgc/dataset/format/ogb"
	"github.com/graph-condensation/cgc/dataset/format/planetoid"
	"github.com/graph-condensation/cgc/dataset/format/pyg"
	"github.com/graph-condensation/cgc/dataset/format/saint"
	"github.com/graph-condensation/cgc/dataset/format/scipy"
	"github.com/graph-condensation/cgc/dataset/format/text"
	"github.com/graph-condensation/cgc/dataset/format/torch"
)

// A name stands for the first format that has it.
func init() {
	format.Register(native.Name, native.Format{})
	format.Register(arrays.Name, arrays.Format{})
	format.Register(scipy.Name, scipy.Format{})
	format.Register(pyg.Name, pyg.Format{})
	format.Register(torch.Name, torch.Format{})
	format.Register(planetoid.Name, planetoid.Format{})
	format.Register(saint.Name, saint.Format{})
	format.Register(dgl.Name, dgl.Format{})
	format.Register(graphml.Name, graphml.Format{})
	format.Register(mtx.Name, mtx.Format{})
	format.Register(ogb.Name, ogb.Format{})
	format.Register(named.Name, named.Format{})
	format.Register(text.Name, text.Format{})
}
