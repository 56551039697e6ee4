// Package plain turns errors into what people read: one line, in the words of the field.
package plain

import (
	"context"
	"errors"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
)

// packages are the names that errors of this module begin with. A test compares them with the sources.
var packages = strings.Fields(`
	assess augment bench cgc chart checkpoint chromium cluster coarsening condense confine dataset dgl
	distill experiment generate gnn gradient graph graphml html json kernel kernelridge learn mat memory offline overview
	paper parquet partition propagate report rival safetensors selection selftrain stored synth
	trajectory tune web`)

// Sentence returns err as one line. The names of packages are left out, because they tell a user nothing. A cancelled
// context is "interrupted".
func Sentence(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	text := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
	names := strings.Join(append(slices.Clone(packages), registeredPackages()...), "|")
	return regexp.MustCompile(`(^|: |; )(`+names+`): `).ReplaceAllString(text, "$1")
}

// registeredPackages returns the names of the packages that registered a method or a model.
func registeredPackages() (names []string) {
	add := func(of any) {
		t := reflect.TypeOf(of)
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if name := path.Base(t.PkgPath()); name != "." && name != "main" {
			names = append(names, regexp.QuoteMeta(name))
		}
	}
	for _, name := range condense.Names() {
		if m, err := condense.New(name, nil); err == nil {
			add(m)
		}
	}
	for _, m := range gnn.All() {
		add(m)
	}
	return names
}
