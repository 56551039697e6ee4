package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// module is the prefix of the import paths of the repository's packages.
const module = "github.com/graph-condensation/cgc"

// source reads types and comments from the code of the repository.
type source struct {
	root     string
	packages map[string]*sourcePackage // by import path
}

// sourcePackage holds the declarations of a package, without its tests.
type sourcePackage struct {
	types  map[string]*ast.TypeSpec
	docs   map[string]*ast.CommentGroup // of types, by name
	values map[string]*ast.CommentGroup // of string constants, by value
	// imports maps each type to the imports of its file: import paths by local name.
	imports map[string]map[string]string
}

func newSource(root string) *source { return &source{root, map[string]*sourcePackage{}} }

// load parses the package of an import path.
func (s *source) load(path string) *sourcePackage {
	if p := s.packages[path]; p != nil {
		return p
	}
	below, ours := strings.CutPrefix(path, module)
	if !ours {
		check(fmt.Errorf("package %s: not of this repository", path))
	}
	files := must(filepath.Glob(filepath.Join(s.root, below, "*.go")))
	p := &sourcePackage{
		map[string]*ast.TypeSpec{}, map[string]*ast.CommentGroup{}, map[string]*ast.CommentGroup{},
		map[string]map[string]string{},
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed := must(parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution))
		p.add(parsed)
	}
	s.packages[path] = p
	return p
}

func (p *sourcePackage) add(file *ast.File) {
	imports := map[string]string{}
	for _, i := range file.Imports {
		path := must(strconv.Unquote(i.Path.Value))
		name := path[strings.LastIndex(path, "/")+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = path
	}
	for _, declaration := range file.Decls {
		d, is := declaration.(*ast.GenDecl)
		if !is {
			continue
		}
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				p.types[spec.Name.Name], p.imports[spec.Name.Name] = spec, imports
				p.docs[spec.Name.Name] = cmp.Or(spec.Doc, d.Doc)
			case *ast.ValueSpec:
				for _, value := range spec.Values {
					if literal, is := value.(*ast.BasicLit); is && literal.Kind == token.STRING && spec.Doc != nil {
						text, _ := strconv.Unquote(literal.Value)
						p.values[text] = spec.Doc
					}
				}
			}
		}
	}
}

// field is a struct field that appears in JSON.
type field struct {
	name, key string // the Go name and the JSON key
	doc       string
	// path and of are the package and the name of the field's type, or of the element type of a list or pointer; "" for an
	// unnamed type.
	path, of string
	inner    *ast.StructType // the type, if it is an unnamed struct
	scope    scope
}

// scope is the context in which the type names of an expression are resolved.
type scope struct {
	of      *sourcePackage
	path    string
	imports map[string]string
}

// fields returns the fields of a struct as they appear in JSON. Embedded structs are replaced by their fields. It
// returns nil for a type that is not a struct.
func (s *source) fields(path, name string) []field {
	p := s.load(path)
	spec, found := p.types[name]
	if !found {
		check(fmt.Errorf("package %s has no type %s", path, name))
	}
	if structure, is := spec.Type.(*ast.StructType); is {
		return s.fieldsIn(structure, scope{p, path, p.imports[name]})
	}
	return nil
}

func (s *source) fieldsIn(structure *ast.StructType, in scope) []field {
	var all []field
	for _, f := range structure.Fields.List {
		one := field{doc: cmp.Or(paragraph(f.Doc), paragraph(f.Comment)), scope: in}
		one.resolve(f.Type)
		key := ""
		if f.Tag != nil {
			text := must(strconv.Unquote(f.Tag.Value))
			key, _, _ = strings.Cut(reflect.StructTag(text).Get("json"), ",")
		}
		switch {
		case key == "-" || key == "" && len(f.Names) > 0:
		case key == "": // embedded
			all = append(all, s.fields(one.path, one.of)...)
		default:
			one.name, one.key = f.Names[0].Name, key
			all = append(all, one)
		}
	}
	return all
}

// resolve sets the type of f from a type expression.
func (f *field) resolve(e ast.Expr) {
	switch e := e.(type) {
	case *ast.StarExpr:
		f.resolve(e.X)
	case *ast.ArrayType:
		f.resolve(e.Elt)
	case *ast.StructType:
		f.inner = e
	case *ast.Ident:
		if f.scope.of.types[e.Name] != nil {
			f.path, f.of = f.scope.path, e.Name
		}
	case *ast.SelectorExpr:
		if x, is := e.X.(*ast.Ident); is {
			f.path, f.of = f.scope.imports[x.Name], e.Sel.Name
		}
	}
}

// below returns the fields of the struct that a field contains, or nil if it contains no struct of this repository.
func (s *source) below(f field) []field {
	switch {
	case f.inner != nil:
		return s.fieldsIn(f.inner, f.scope)
	case f.of == "" || !strings.HasPrefix(f.path, module):
		return nil
	}
	return s.fields(f.path, f.of)
}

// groups splits fields into rows of a table. A field without a comment joins the previous row if that row's comment
// names the field or is missing.
func groups(fields []field) (rows [][]field) {
	for _, f := range fields {
		if last := len(rows) - 1; last >= 0 && f.doc == "" {
			if doc := rows[last][0].doc; doc == "" || slices.Contains(words(doc), f.name) {
				rows[last] = append(rows[last], f)
				continue
			}
		}
		rows = append(rows, []field{f})
	}
	return rows
}

func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// typeDoc returns the first paragraph of the comment of a type.
func (s *source) typeDoc(path, name string) string {
	doc := s.load(path).docs[name]
	if doc == nil {
		check(fmt.Errorf("package %s: type %s has no comment", path, name))
	}
	return paragraph(doc)
}

// paragraph returns the first paragraph of a comment as one line.
func paragraph(c *ast.CommentGroup) string {
	if c == nil {
		return ""
	}
	first, _, _ := strings.Cut(c.Text(), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}
