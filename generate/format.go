package generate

import (
	"context"
	"fmt"
	"io"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/encode/columnar"
	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Format is a form that a dataset can be written in: an encode.Format, which
// makes one file or stream, or a columnar.Format, which makes a folder.
type Format struct {
	Name   string
	Help   string
	Folder bool // the output is a folder: never standard output
	create func(name string, s *series.Schema) (Output, error)
}

// Create begins the output of the given name, as outfile.Create or, where
// Folder is set, outfile.CreateFolder do. Its errors are for users.
func (f Format) Create(name string, s *series.Schema) (Output, error) { return f.create(name, s) }

// Output is a dataset being written. It appears under its name only when it is
// whole.
type Output interface {
	// Write writes all rows of the reader and calls progress, from one
	// goroutine, with the number of rows of each piece written. It stops with
	// ctx's error when ctx ends.
	Write(ctx context.Context, r workload.Reader, progress func(rows int)) error
	// Commit finishes the output and gives it its name.
	Commit() error
	// Discard removes the files written. After Commit it does nothing.
	Discard()
}

// Formats lists the formats: those of databases' loaders, then those of
// people's own tools.
func Formats() []Format {
	var all []Format
	for _, f := range encode.Formats() {
		all = append(all, streamFormat(f))
	}
	for _, f := range columnar.Formats() {
		all = append(all, folderFormat(f))
	}
	return all
}

// Find returns the named format. Its error offers the closest names.
func Find(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("unknown format %q%s", name, suggest.Names(name, names))
}

func streamFormat(f encode.Format) Format {
	return Format{Name: f.Name, Help: f.Help, create: func(name string, s *series.Schema) (Output, error) {
		encoder, err := f.New(s)
		if err != nil {
			return nil, fmt.Errorf("the format %s cannot hold the dataset: %w", f.Name, err)
		}
		out, err := outfile.Create(name)
		if err != nil {
			return nil, err
		}
		return stream{out, encoder}, nil
	}}
}

// stream is an output of one file.
type stream struct {
	*outfile.File
	encoder encode.Encoder
}

// Write implements Output.
func (s stream) Write(ctx context.Context, r workload.Reader, progress func(rows int)) error {
	return Write(ctx, s.File, r, s.encoder, progress)
}

func folderFormat(f columnar.Format) Format {
	return Format{Name: f.Name, Help: f.Help, Folder: true, create: func(name string, s *series.Schema) (Output, error) {
		out, err := outfile.CreateFolder(name)
		if err != nil {
			return nil, err
		}
		w, err := f.New(s, func(name string) (io.Writer, error) { return out.Create(name) })
		if err != nil {
			out.Discard()
			return nil, fmt.Errorf("beginning %s files: %w", f.Name, err)
		}
		return folder{out, w}, nil
	}}
}

// folder is an output of one file a table.
type folder struct {
	*outfile.Folder
	writer *columnar.Writer
}

// Write implements Output.
func (f folder) Write(ctx context.Context, r workload.Reader, progress func(rows int)) error {
	return WriteColumns(ctx, f.writer, r, progress)
}
