package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// publicNames lists what other modules can use: a line for each exported constant, variable, function, type, field and
// method of the packages that are neither internal nor commands. A change of the public API thus shows in a diff of the
// list. Files are selected as for linux/amd64.
func publicNames(root string) string {
	system := build.Default
	system.GOOS, system.GOARCH, system.CgoEnabled, system.BuildTags = "linux", "amd64", false, nil
	var lines []string
	err := filepath.WalkDir(root, func(folder string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if name := entry.Name(); folder != root && (name == "internal" || name == "testdata" || name[0] == '.') {
			return filepath.SkipDir
		}
		p, err := system.ImportDir(folder, 0)
		if none := new(build.NoGoError); errors.As(err, &none) || err == nil && p.IsCommand() {
			return nil
		} else if err != nil {
			return err
		}
		below, err := filepath.Rel(root, folder)
		if err != nil {
			return err
		}
		if below = filepath.ToSlash(below); below == "." {
			below = p.Name
		}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, line := range exported(file) {
				lines = append(lines, below+": "+line+"\n")
			}
		}
		return nil
	})
	check(err)
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// exported returns a line for each exported name that a file declares.
func exported(file *ast.File) (lines []string) {
	ast.FileExports(file)
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			receiver := ""
			if d.Recv != nil {
				of := printed(d.Recv.List[0].Type)
				if !ast.IsExported(strings.TrimPrefix(of, "*")) {
					continue
				}
				receiver = "(" + of + ") "
			}
			lines = append(lines, "func "+receiver+d.Name.Name+signature(d.Type))
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						lines = append(lines, d.Tok.String()+" "+name.Name)
					}
				case *ast.TypeSpec:
					lines = append(lines, typeLines(spec)...)
				}
			}
		}
	}
	return lines
}

// typeLines returns a line for a type, and one for each field of a struct or method of an interface.
func typeLines(spec *ast.TypeSpec) (lines []string) {
	name := "type " + spec.Name.Name + parameters(spec.TypeParams)
	list := func(kind string, members *ast.FieldList) []string {
		lines = append(lines, name+" "+kind)
		for _, member := range members.List {
			what := printed(member.Type)
			if method, is := member.Type.(*ast.FuncType); is && kind == "interface" {
				what = signature(method)
			} else if len(member.Names) > 0 {
				what = " " + what
			}
			for _, n := range member.Names {
				lines = append(lines, fmt.Sprintf("%s %s: %s%s", name, kind, n.Name, what))
			}
			if len(member.Names) == 0 {
				lines = append(lines, fmt.Sprintf("%s %s: %s", name, kind, what))
			}
		}
		return lines
	}
	switch t := spec.Type.(type) {
	case *ast.StructType:
		return list("struct", t.Fields)
	case *ast.InterfaceType:
		return list("interface", t.Methods)
	}
	if spec.Assign.IsValid() {
		name += " ="
	}
	return append(lines, name+" "+printed(spec.Type))
}

// signature returns the type parameters, parameters and results of a function.
func signature(f *ast.FuncType) string { return strings.TrimPrefix(printed(f), "func") }

// parameters returns type parameters in brackets, or "".
func parameters(list *ast.FieldList) string {
	if list == nil {
		return ""
	}
	var all []string
	for _, p := range list.List {
		for _, name := range p.Names {
			all = append(all, name.Name+" "+printed(p.Type))
		}
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// printed returns an expression as source code in one line.
func printed(e ast.Expr) string {
	var b strings.Builder
	check(printer.Fprint(&b, token.NewFileSet(), e))
	return strings.Join(strings.Fields(b.String()), " ")
}
