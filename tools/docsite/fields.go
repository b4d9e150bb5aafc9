package docsite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"reflect"
	"slices"
	"strings"
)

// types are the structs of the packages whose values are in the document of a run, each by
// package and name: result.Run.
type types map[string]*ast.StructType

// readTypes reads the source of these packages.
func readTypes(repository fs.FS) (types, error) {
	found := types{}
	for _, pkg := range []string{"result", "measure", "driver"} {
		names, err := fs.Glob(repository, pkg+"/*.go")
		if err != nil {
			return nil, fmt.Errorf("listing package %s: %w", pkg, err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(repository, name)
			if err != nil {
				return nil, fmt.Errorf("reading package %s: %w", pkg, err)
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
			if err != nil {
				return nil, fmt.Errorf("parsing package %s: %w", pkg, err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					if s, ok := spec.Type.(*ast.StructType); ok {
						found[pkg+"."+spec.Name.Name] = s
					}
				}
				return true
			})
		}
	}
	return found, nil
}

// field is a field of a JSON object.
type field struct {
	name    string // its key; empty: the fields of an embedded struct
	shown   string // its type, as Markdown
	inner   string // the struct that its type leads to, in types; empty: none
	meaning string
}

// fields lists the fields of a struct that are in its JSON.
func (t types) fields(name string) []field {
	pkg, _, _ := strings.Cut(name, ".")
	var list []field
	for _, f := range t[name].Fields.List {
		key := ""
		if f.Tag != nil {
			key, _, _ = strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
		}
		if key == "-" {
			continue
		}
		shown, inner := t.show(f.Type, pkg)
		meaning := strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
		if len(f.Names) == 0 {
			key, meaning = "", "its fields, in place of this line"
		}
		list = append(list, field{key, shown, inner, cell(meaning)})
	}
	return list
}

// reach lists a struct and all structs that its fields lead to, each once.
func (t types) reach(first string) []string {
	list := []string{first}
	for i := 0; i < len(list); i++ {
		for _, f := range t.fields(list[i]) {
			if f.inner != "" && !slices.Contains(list, f.inner) {
				list = append(list, f.inner)
			}
		}
	}
	return list
}

// markdown describes a struct and all structs that it leads to, a table each.
func (t types) markdown(first string) string {
	var b strings.Builder
	for _, name := range t.reach(first) {
		_, short, _ := strings.Cut(name, ".")
		fmt.Fprintf(&b, "\n### %s\n\n| field | JSON | meaning |\n|---|---|---|\n", short)
		for _, f := range t.fields(name) {
			key := "…"
			if f.name != "" {
				key = "`" + f.name + "`"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", key, f.shown, f.meaning)
		}
	}
	return b.String()
}

// show returns how a type looks in JSON, and the struct that it leads to.
func (t types) show(e ast.Expr, pkg string) (shown, inner string) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return t.show(e.X, pkg)
	case *ast.ArrayType:
		shown, inner = t.show(e.Elt, pkg)
		return "array of " + shown, inner
	case *ast.MapType:
		shown, inner = t.show(e.Value, pkg)
		return "object of " + shown, inner
	case *ast.SelectorExpr:
		return t.showNamed(e.X.(*ast.Ident).Name + "." + e.Sel.Name)
	case *ast.Ident:
		switch {
		case e.Name == "string":
			return "text", ""
		case e.Name == "bool":
			return "true or false", ""
		case strings.HasPrefix(e.Name, "int") || strings.HasPrefix(e.Name, "uint") || strings.HasPrefix(e.Name, "float"):
			return "number", ""
		}
		return t.showNamed(pkg + "." + e.Name)
	}
	return "any", ""
}

func (t types) showNamed(name string) (shown, inner string) {
	_, short, _ := strings.Cut(name, ".")
	switch name {
	case "time.Time":
		return "time", ""
	case "time.Duration":
		return "number", ""
	case "result.Value":
		return "number or null", ""
	case "result.Status", "result.Metric":
		return "text", ""
	case "workload.Spec":
		return "object: the workload of an experiment", ""
	case "result.Parameters":
		shown, inner = t.showNamed("result.Parameter")
		return "array of " + shown, inner
	}
	if t[name] != nil {
		return "[" + short + "](#" + strings.ToLower(short) + ")", name
	}
	return short, ""
}
