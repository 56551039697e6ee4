// Package all registers the methods that others published, after cgc's own. A program that imports it knows them by
// name:
//
//	import _ "github.com/graph-condensation/cgc/rival/all"
package all

import (
	_ "github.com/graph-condensation/cgc" // registers its methods first, so that lists begin with them
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/rival/coarsening"
	"github.com/graph-condensation/cgc/rival/distribution"
	"github.com/graph-condensation/cgc/rival/gradient"
	"github.com/graph-condensation/cgc/rival/kernel"
	"github.com/graph-condensation/cgc/rival/selection"
	"github.com/graph-condensation/cgc/rival/trajectory"
)

// init registers each method with its default parameters, family by family. Lists of methods have this order.
func init() {
	for _, m := range []condense.Method{
		selection.Random{}, selection.NewHerding(), selection.NewKCenter(),
		coarsening.NewVN(), coarsening.NewACM(),
		kernel.NewSNTK(), kernel.NewSNTKX(),
		gradient.NewGCond(), gradient.NewGCondX(), gradient.NewDosCond(), gradient.NewMSGC(), gradient.NewSGDD(),
		distribution.NewGCDM(), distribution.NewGCDMX(), distribution.NewSimGC(),
		trajectory.NewSFGC(), trajectory.NewGEOM(), trajectory.NewGCSR(),
	} {
		condense.Register(m)
	}
}
