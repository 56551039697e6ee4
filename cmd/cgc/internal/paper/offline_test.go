package paper_test

import (
	"os"
	"testing"

	"github.com/graph-condensation/cgc/internal/offline"
)

func TestMain(m *testing.M) { os.Exit(offline.Main(m)) }
