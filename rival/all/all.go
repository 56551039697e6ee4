// Package all registers the baselines after cgc's own methods. A program that imports it finds them by name:
//
//	import _ "github.com/graph-condensation/cgc/rival/all"
package all

import (
	"slices"

	_ "github.com/graph-condensation/cgc" // registers its methods first, so that lists begin with them
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/rival/internal/bonsai"
	"github.com/graph-condensation/cgc/rival/internal/clustgdd"
	"github.com/graph-condensation/cgc/rival/internal/coarsening"
	"github.com/graph-condensation/cgc/rival/internal/deepcgc"
	"github.com/graph-condensation/cgc/rival/internal/distribution"
	"github.com/graph-condensation/cgc/rival/internal/fuzzy"
	"github.com/graph-condensation/cgc/rival/internal/gradient"
	"github.com/graph-condensation/cgc/rival/internal/kernel"
	"github.com/graph-condensation/cgc/rival/internal/selection"
	"github.com/graph-condensation/cgc/rival/internal/trajectory"
)

// init registers each method with its default parameters. Lists of methods are in this order.
func init() {
	for _, m := range slices.Concat(
		selection.Methods(), coarsening.Methods(), kernel.Methods(), gradient.Methods(), distribution.Methods(),
		trajectory.Methods(), []condense.Method{bonsai.New(), clustgdd.New(), fuzzy.New(), deepcgc.New()},
	) {
		condense.Register(m)
	}
}
