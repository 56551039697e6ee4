package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/tables/internal/query"
)

// others lists types that graphs do not support, with names for errors.
var others = map[string]string{
	"BYTEA": "bytes", "JSON": "JSON", "JSONB": "JSON", "POINT": "points", "DATE": "dates", "TIME": "times",
	"TIMETZ": "times", "TIMESTAMP": "times", "TIMESTAMPTZ": "times", "INTERVAL": "intervals", "MONEY": "amounts of money",
	"_BOOL": "lists of booleans", "_TEXT": "lists of strings", "_VARCHAR": "lists of strings", "RECORD": "rows",
	"_UUID": "lists of UUIDs",
}

// column returns how values that the server sends as text become numbers or lists, or what an unsupported type holds.
func column(databaseType string) (set query.Setter, unsupported string) {
	switch databaseType {
	case "NUMERIC":
		set = setNumeric
	case "_INT2", "_INT4", "_INT8", "_FLOAT4", "_FLOAT8", "_NUMERIC":
		set = setList
	}
	return set, others[databaseType]
}

// setNumeric sets a cell to an arbitrary-precision number. A number beyond float64 becomes infinite.
func setNumeric(raw []byte, cell *table.Cell) (err error) {
	cell.Kind = table.Float
	if cell.Float, err = strconv.ParseFloat(string(raw), 64); errors.Is(err, strconv.ErrRange) {
		return nil
	}
	return err
}

// setList sets a cell to an array of numbers, as in {1.5,NULL}. The text begins with the bounds of the indices if they
// are not the usual ones, as in [0:1]={1.5,NULL}.
func setList(raw []byte, cell *table.Cell) error {
	raw = raw[bytes.IndexByte(raw, '=')+1:]
	raw, opens := bytes.CutPrefix(raw, []byte("{"))
	raw, closes := bytes.CutSuffix(raw, []byte("}"))
	if !opens || !closes {
		return errors.New("the server sent an array that is cut short")
	}
	cell.Kind, cell.List = table.List, cell.List[:0]
	switch nested := len(raw) - len(bytes.TrimLeft(raw, "{")); {
	case nested > 0:
		return fmt.Errorf("an array of %d dimensions, must be 1", nested+1)
	case len(raw) == 0:
		return nil
	}
	for word := range bytes.SplitSeq(raw, []byte(",")) {
		one := table.Cell{Float: math.NaN()}
		if string(word) != "NULL" {
			if err := setNumeric(word, &one); err != nil {
				return err
			}
		}
		cell.List = append(cell.List, float32(one.Float))
	}
	return nil
}
