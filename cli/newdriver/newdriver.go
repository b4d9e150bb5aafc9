// Package newdriver has the command that begins a driver as a program of its own.
package newdriver

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/sdk"
)

//go:embed template
var templates embed.FS

const (
	module = "github.com/tsmark/tsmark"
	python = "python"
)

// Command returns the command new-driver.
func Command(a *app.App) *cobra.Command {
	var language string
	cmd := &cobra.Command{
		Use:   "new-driver NAME",
		Short: "Write a driver for your own database, in Python or Go",
		Long: `Writes the folder NAME with a driver that runs as a program of its own and works at
once, over SQLite. Replace its functions by those of your database, and let
tsmark check each step. docs/guide/your-database.md explains the way.`,
		Example: `  tsmark new-driver mydb
  tsmark new-driver --sdk go mydb`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return write(a, language, args[0])
		},
	}
	cmd.Flags().StringVar(&language, "sdk", python, "`language` of the driver: python or go")
	return cmd
}

var validName = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// write writes the folder of a driver and prints what to do next.
func write(a *app.App, language, name string) error {
	if language != python && language != "go" {
		return fmt.Errorf("--sdk %s: there is no SDK for this language%s", language, suggest.NamesOr(language, []string{python, "go"}, "; use python or go"))
	}
	if !validName.MatchString(name) {
		return fmt.Errorf("driver name %q: use lower-case letters and digits, starting with a letter", name)
	}
	if err := os.Mkdir(name, 0o777); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("the folder %s exists already: choose another name, or delete it", name)
		}
		return err
	}
	files, err := contents(language, name)
	if err != nil {
		return err
	}
	for path, text := range files {
		path = filepath.Join(name, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(a.Stdout, next(language, name))
	return err
}

// contents returns the files of a driver by their paths in its folder.
func contents(language, name string) (map[string][]byte, error) {
	files := make(map[string][]byte)
	add := func(from fs.FS, folder, to string) error {
		return fs.WalkDir(from, folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := fs.ReadFile(from, path)
			target := filepath.Join(to, strings.TrimSuffix(filepath.Base(path), ".tmpl"))
			if to == "" {
				text = []byte(replacer(name).Replace(string(text)))
			}
			files[target] = text
			return err
		})
	}
	err := add(templates, "template/"+language, "")
	if err == nil && language == python {
		err = add(sdk.Python, sdk.PythonFolder, "tsmark_driver")
	}
	if language == "go" && insideModule() {
		delete(files, "go.mod")
	}
	return files, err
}

// replacer puts the driver's name into templates.
func replacer(name string) *strings.Replacer {
	title := strings.ToUpper(name[:1]) + name[1:]
	return strings.NewReplacer("NameD", title+"D", "NAME", name)
}

// insideModule reports whether the working folder belongs to a checkout of tsmark, whose packages a
// driver in Go can then use without a module of its own.
func insideModule() bool {
	folder, err := os.Getwd()
	for err == nil {
		if text, err := os.ReadFile(filepath.Join(folder, "go.mod")); err == nil {
			return modfile.ModulePath(text) == module
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			break
		}
		folder = parent
	}
	return false
}

// next says what to do with a new driver.
func next(language, name string) string {
	build := fmt.Sprintf("python3 -m venv %s/.venv && %[1]s/.venv/bin/pip install -r %[1]s/requirements.txt", name)
	command := fmt.Sprintf("%s/.venv/bin/python %[1]s/driver.py", name)
	if language == "go" {
		build, command = fmt.Sprintf("go -C %s build -o driver .", name), name+"/driver"
		if !insideModule() {
			build = fmt.Sprintf(`go -C %s mod tidy && %s

With a checkout of tsmark in place of its published module, before these:

  go -C %[1]s mod edit -replace %[3]s=CHECKOUT

Then:
`, name, build, module)
		}
	}
	return fmt.Sprintf(`%s has a driver over SQLite. Try it:

  %s
  tsmark run --target external,command="%s" --target sqlite
  tsmark conformance external,command="%[3]s"
`, name, build, command)
}
