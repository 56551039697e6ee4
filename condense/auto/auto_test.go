package auto_test

import (
	"testing"

	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/condense/condensetest"
)

func TestContract(t *testing.T) {
	claims := []condensetest.Claim{condensetest.Proportional, condensetest.Random, condensetest.ReadsValidation}
	condensetest.Test(t, auto.New(), claims...)
}
