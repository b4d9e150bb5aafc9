package rooms_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/internal/slowtest"
)

// TestWithoutCgo type-checks tsmark as it is built without cgo, on this system and on macOS. Compiling it takes ten times
// as long, since each package that imports net, even indirectly, differs.
func TestWithoutCgo(t *testing.T) {
	slowtest.Skip(t)
	for _, system := range []string{runtime.GOOS, "darwin"} {
		t.Run(system, func(t *testing.T) { typeCheck(t, "GOOS="+system, "CGO_ENABLED=0") })
	}
}

// typeCheck type-checks tsmark as it is built with variables of the environment, and the declarations of everything that
// it imports.
func typeCheck(t *testing.T, variables ...string) {
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap", "./cmd/tsmark")
	list.Dir = "../.."
	list.Env = append(os.Environ(), variables...)
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := list.Start(); err != nil {
		t.Fatal(err)
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	for d := json.NewDecoder(out); ; { // the imports of a package come before it
		var p struct {
			ImportPath, Dir string
			GoFiles         []string
			ImportMap       map[string]string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		set := token.NewFileSet()
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		config := types.Config{
			Sizes:            types.SizesFor("gc", runtime.GOARCH),
			IgnoreFuncBodies: !strings.HasPrefix(p.ImportPath, module),
			Error:            func(err error) { t.Error(err) },
			Importer: importerFunc(func(path string) (*types.Package, error) {
				if mapped := p.ImportMap[path]; mapped != "" {
					path = mapped
				}
				if imported := checked[path]; imported != nil {
					return imported, nil
				}
				return nil, errors.New("go list has not named " + path)
			}),
		}
		checked[p.ImportPath], _ = config.Check(p.ImportPath, set, files, nil) // Error has reported its error
	}
	if err := list.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(checked) < 500 {
		t.Errorf("only %d packages were checked", len(checked))
	}
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }
