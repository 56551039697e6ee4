package coarsening_test

import (
	"testing"

	"github.com/graph-condensation/cgc/condense/condensetest"
	"github.com/graph-condensation/cgc/rival/coarsening"
)

func TestContract(t *testing.T) {
	t.Run("vn", func(t *testing.T) { condensetest.Test(t, coarsening.NewVN()) })
	t.Run("a-cm", func(t *testing.T) { condensetest.Test(t, coarsening.NewACM()) })
}
