package postgres

import (
	"fmt"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// FuzzList sets cells to arbitrary text as numbers and arrays. A value is set completely or is an error. A list has no
// more numbers than its text can contain.
func FuzzList(f *testing.F) {
	for _, text := range []string{"-5.5000", "1e400", "{2.5,NULL}", "{}", "[0:2]={1.5,NULL,NaN}", "{{1}}", "{", "{1,}"} {
		f.Add("_FLOAT8", []byte(text))
		f.Add("NUMERIC", []byte(text))
	}
	f.Fuzz(func(t *testing.T, databaseType string, raw []byte) {
		set, unsupported := column(databaseType)
		if set == nil || unsupported != "" {
			return
		}
		before := slices.Clone(raw)
		var cell, again table.Cell
		if err := set(raw, &cell); err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		if len(cell.List) > len(raw)/2 {
			t.Errorf("%d numbers in %d bytes of text", len(cell.List), len(raw))
		}
		if err := set(raw, &again); err != nil || len(again.List) != len(cell.List) || !slices.Equal(raw, before) {
			t.Errorf("%v: %+v, then %+v of %q, then %q", err, cell, again, before, raw)
		}
	})
}

func TestSplit(t *testing.T) {
	for host, want := range map[string]string{"a": "a:5432", "a:1": "a:1", "[::1]": "::1:5432", "[::1]:1": "::1:1"} {
		name, port := split(host, 5432)
		mattest.Equal(t, fmt.Sprintf("%s:%d", name, port), want, "%s is", host)
	}
}
