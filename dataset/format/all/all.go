// Package all registers all formats of this module except the native one. Package dataset imports it. A program that
// only condenses, saves and loads does not need it.
package all

import (
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/dgl"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/graphml"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/matlab"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/mtx"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/musae"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/named"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/npz"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/ogb"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/planetoid"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/saint"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/text"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/torch"
	_ "github.com/graph-condensation/cgc/dataset/format/native" // registers itself first, so that lists begin with it
)

// init registers each format. Help and errors list them in this order.
func init() {
	format.Register(npz.Name, npz.Format{})
	format.Register(torch.Name, torch.Format{})
	format.Register(planetoid.Name, planetoid.Format{})
	format.Register(saint.Name, saint.Format{})
	format.Register(dgl.Name, dgl.Format{})
	format.Register(graphml.Name, graphml.Format{})
	format.Register(mtx.Name, mtx.Format{})
	format.Register(matlab.Name, matlab.Format{})
	format.Register(musae.Name, musae.Format{})
	format.Register(ogb.Name, ogb.Format{})
	format.Register(named.Name, named.Format{})
	format.Register(text.Name, text.Format{})
}
