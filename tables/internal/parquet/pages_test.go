package parquet_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestPagesClaim checks that a page whose header has an impossible size is an error before memory is allocated for it.
func TestPagesClaim(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *pqformat.PageHeader)
		want   string
	}{
		"unpacked": {func(h *pqformat.PageHeader) { h.UncompressedPageSize = 2e9 }, "it unpacks to 2000000000, must"},
		"packed":   {func(h *pqformat.PageHeader) { h.CompressedPageSize = 2e9 }, "has 2000000000 bytes, must have at most"},
		"values": {func(h *pqformat.PageHeader) {
			h.DictionaryPageHeader.Valid = false
			h.Type, h.DataPageHeader.Valid = pqformat.DataPage, true
			h.DataPageHeader.V.NumValues = 2_000_000_000
		}, "says that it has 2000000000 values, and its column has "},
	} {
		dir := damaged(t, "nodes.parquet", func(content []byte) []byte {
			var protocol thrift.CompactProtocol
			var h pqformat.PageHeader
			const first = 4 // after the magic number
			r := bytes.NewReader(content[first:])
			mattest.OK(t, thrift.NewDecoder(protocol.NewReader(r)).Decode(&h))
			rest := content[len(content)-r.Len():]
			c.change(&h)
			var changed bytes.Buffer
			mattest.OK(t, thrift.NewEncoder(protocol.NewWriter(&changed)).Encode(&h))
			return slices.Concat(content[:first], changed.Bytes(), rest)
		})
		_, err := open(t.Context(), dir)
		const where = "own/nodes.parquet: column id: the file is damaged: page 0 at byte 4 "
		if err == nil || !strings.Contains(err.Error(), where) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
