package result

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/results.md instead of comparing with it")

// TestDocumented: docs/results.md lists every field of a document, with what its
// comment says.
func TestDocumented(t *testing.T) {
	const name, made = "../docs/results.md", " -update -->\n"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, listed, ok := strings.Cut(string(text), made)
	if !ok {
		t.Fatal("docs/results.md does not say where its list begins")
	}
	want := fieldList(t, "result.Run")
	if *update {
		if err := os.WriteFile(name, []byte(head+made+want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if withoutMeaning(listed) != withoutMeaning(want) {
		t.Error("docs/results.md lists other fields than documents have; go test ./result -run Documented -update writes it")
	}
}

// withoutMeaning is a list without its last column: a comment that is worded
// anew is no other field.
func withoutMeaning(list string) string {
	lines := strings.Split(list, "\n")
	for i, line := range lines {
		if cells := strings.SplitN(line, "|", 4); len(cells) == 4 {
			lines[i] = cells[1] + cells[2]
		}
	}
	return strings.Join(lines, "\n")
}

// fieldList describes a type and all that it leads to, as Markdown.
func fieldList(t *testing.T, first string) string {
	t.Helper()
	types := make(map[string]*ast.StructType)
	for pkg, dir := range map[string]string{"result": ".", "measure": "../measure", "driver": "../driver"} {
		names, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					if s, ok := spec.Type.(*ast.StructType); ok {
						types[pkg+"."+spec.Name.Name] = s
					}
				}
				return true
			})
		}
	}
	var b strings.Builder
	queue, seen := []string{first}, map[string]bool{first: true}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		_, short, _ := strings.Cut(name, ".")
		fmt.Fprintf(&b, "\n### %s\n\n| field | JSON | meaning |\n|---|---|---|\n", short)
		for _, f := range types[name].Fields.List {
			tag := ""
			if f.Tag != nil {
				tag, _, _ = strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
			}
			inner := ""
			said := typeText(f.Type, strings.Split(name, ".")[0], func(n string) bool { inner = n; return types[n] != nil })
			if types[inner] != nil && !seen[inner] {
				seen[inner] = true
				queue = append(queue, inner)
			}
			comment := strings.TrimSpace(strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " "))
			comment = strings.ReplaceAll(comment, "|", `\|`)
			switch {
			case tag == "-":
			case len(f.Names) == 0:
				fmt.Fprintf(&b, "| … | %s | its fields stand here |\n", said)
			default:
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", tag, said, comment)
			}
		}
	}
	return b.String()
}

// typeText says how a type looks in JSON. known tells whether a type has a
// section of its own.
func typeText(e ast.Expr, pkg string, known func(name string) bool) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeText(e.X, pkg, known)
	case *ast.ArrayType:
		return "array of " + typeText(e.Elt, pkg, known)
	case *ast.MapType:
		return "object of " + typeText(e.Value, pkg, known)
	case *ast.SelectorExpr:
		return named(e.X.(*ast.Ident).Name+"."+e.Sel.Name, known)
	case *ast.Ident:
		switch {
		case e.Name == "string":
			return "text"
		case e.Name == "bool":
			return "true or false"
		case strings.HasPrefix(e.Name, "int") || strings.HasPrefix(e.Name, "uint") || strings.HasPrefix(e.Name, "float"):
			return "number"
		}
		return named(pkg+"."+e.Name, known)
	}
	return "any"
}

func named(name string, known func(string) bool) string {
	_, short, _ := strings.Cut(name, ".")
	switch name {
	case "time.Time":
		return "time"
	case "time.Duration":
		return "number"
	case "result.Value":
		return "number or null"
	case "result.Status", "result.Metric":
		return "text"
	case "workload.Spec":
		return "object: the workload of an experiment"
	case "result.Parameters":
		known("result.Parameter")
		return "array of [Parameter](#parameter)"
	}
	if known(name) {
		return "[" + short + "](#" + strings.ToLower(short) + ")"
	}
	return short
}
