package gnn_test

import (
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/gnntest"
)

func TestContract(t *testing.T) {
	each(t, func(t *testing.T, m gnn.Model) { gnntest.Test(t, m) })
}
