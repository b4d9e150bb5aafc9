package owndata

import (
	"fmt"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/file/sample"
)

// samples looks at the exports of monitoring systems. Its error is io.EOF at the end.
func (p *profiler) samples(source sample.Source) ([]*profile, error) {
	var all []*profile
	byName := make(map[string]*profile)
	for {
		s, err := source.Next()
		if err != nil {
			return all, err
		}
		p.at.Line = source.Line()
		of := byName[string(s.Table)]
		if of == nil {
			if of, err = p.addTable(s.Table); err != nil {
				return all, err
			}
			of.time.typed = 0 // the values tell how times are written
			byName[of.name], all = of, append(all, of)
		}
		for i := range s.Tags {
			if err := p.addTag(of, s.Tags[i].Key, s.Tags[i].Value); err != nil {
				return all, err
			}
		}
		for i := range s.Fields {
			if err := p.sampleField(of, &s.Fields[i]); err != nil {
				return all, fmt.Errorf("column %s: %w", s.Fields[i].Name, err)
			}
		}
		of.time.add(s.Time, p)
		if err := p.count(of); err != nil {
			return all, err
		}
	}
}

func (p *profiler) sampleField(of *profile, f *sample.Field) error {
	c := of.byName[string(f.Name)]
	if c == nil {
		if err := p.addColumn(of, f.Name); err != nil {
			return err
		}
		c = of.column(string(f.Name))
	}
	switch {
	case f.Type == 0:
		if c.left == "" {
			c.left = f.Problem()
		}
		return nil
	case f.Type.Textual() || f.Type == series.Timestamp:
		p.textField(c, f.Type, f.Value)
		return nil
	case p.absent(f.Value):
		return nil
	}
	return p.typedField(c, f.Type, f.Value)
}

// decimal returns a cell of CSV with a point for decimals, and counts the characters that cells have
// for these.
func (p *profiler) decimal(cell []byte) []byte {
	switch {
	case p.layout.decimal == ",":
		p.text, _ = input.AppendPoint(p.text[:0], cell)
		return p.text
	case p.layout.decimal == "" && p.layout.delimiter == ';':
		switch input.DecimalOf(cell) {
		case ',':
			if p.commaCells++; p.commaCells == 1 {
				p.firstComma = large{string(cell[:min(len(cell), input.MaxShown)]), p.at}
			}
		case '.':
			p.pointCells++
		}
	}
	return cell
}
