package coarsening_test

import (
	"testing"

	"github.com/graph-condensation/cgc/condense/condensetest"
	"github.com/graph-condensation/cgc/rival/internal/coarsening"
)

func TestContract(t *testing.T) {
	t.Run("vn", func(t *testing.T) { condensetest.Test(t, coarsening.NewVN()) })
	acm := coarsening.NewACM()
	acm.PairsPerLevel = 400 // few levels, to keep the test fast
	t.Run("a-cm", func(t *testing.T) { condensetest.Test(t, acm) })
}
