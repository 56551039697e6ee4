package musae

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/roles"
	"github.com/graph-condensation/cgc/graph"
)

// readSplit reads the masks of split k of Geom-GCN: NAME_split_0.6_0.2_K.npz. The split is empty if k is 0 and there
// are no such files.
func readSplit(ctx context.Context, folder string, n, k int) (s graph.Split, notes []string, err error) {
	wrong := func(text string, args ...any) (graph.Split, []string, error) {
		return s, nil, format.Wrong(folder, text, args...)
	}
	entries, _ := os.ReadDir(folder) // an unreadable folder counts as empty
	first := ""
	numbers := map[int]string{}
	for _, entry := range entries {
		stem, is := strings.CutSuffix(entry.Name(), ".npz")
		at := strings.LastIndexByte(stem, '_')
		number, err := strconv.Atoi(stem[at+1:])
		if err != nil || !is || !strings.Contains(stem, "_split_") {
			continue
		}
		if first == "" {
			first = stem[:at]
		}
		if stem[:at] != first {
			return wrong("it holds the splits %s and %s, must be those of one graph", first, stem[:at])
		}
		numbers[number] = filepath.Join(folder, entry.Name())
	}
	known := slices.Sorted(maps.Keys(numbers))
	if len(known) == 0 {
		if k > 0 {
			return wrong("split %d, must be 0: the folder holds no splits", k)
		}
		return s, nil, nil
	}
	file := numbers[k]
	if file == "" {
		return wrong("split %d, must be one of %v: there is no file %s_%d.npz", k, known, first, k)
	}
	z, err := numpy.OpenArchive(ctx, file)
	if err != nil {
		return s, nil, err
	}
	defer z.Close()
	if s, notes, err = roles.Split(z, n, 0); err == nil && len(known) > 1 {
		notes = append(notes, fmt.Sprintf("%s holds %d splits: split %d of %d to %d is used",
			folder, len(known), k, known[0], known[len(known)-1]))
	}
	return s, notes, err
}
