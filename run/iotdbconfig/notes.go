package iotdbconfig

import (
	"path/filepath"
	"strings"
)

// notes describes the effect of each parameter in the file. It omits values, because some are
// secret.
func (m *mapping) notes() []string {
	list := []string{"The scenario of IoTDB-Benchmark's " + filepath.Base(m.file) + "; parameters that it does not set have the tool's defaults, except those of connections."}
	var honoured, usual, mapped, reasons []string
	ignored := make(map[string][]string) // by reason
	for _, p := range m.parameters {
		if !m.has(p.Name) {
			continue
		}
		f, special := m.fates[p.Name]
		if !special {
			f = fate{p.Fate, p.Why}
		}
		switch {
		case f.fate == Mapped && !m.isChanged(p.Name):
			usual = append(usual, p.Name)
		case f.fate == Mapped:
			name := p.Name
			if p.Becomes != "" {
				name += " becomes " + p.Becomes
			}
			mapped = append(mapped, name+": "+f.why+".")
		case f.fate == Ignored:
			if ignored[f.why] == nil {
				reasons = append(reasons, f.why)
			}
			ignored[f.why] = append(ignored[f.why], p.Name)
		default: // for a refused parameter, the default
			honoured = append(honoured, p.Name)
		}
	}
	if len(honoured) > 0 {
		list = append(list, "Honoured: "+strings.Join(honoured, ", ")+".")
	}
	if len(usual) > 0 {
		list = append(list, "Mapped, as by default: "+strings.Join(usual, ", ")+".")
	}
	list = append(list, mapped...)
	for _, why := range reasons {
		list = append(list, "Ignored: "+strings.Join(ignored[why], ", ")+": "+why+".")
	}
	return list
}

// name returns the name of the run: the remark, or the file's name.
func (m *mapping) name() string {
	if remark := m.text("REMARK"); remark != "" {
		m.setOrigin("REMARK", "name")
		return remark
	}
	base := filepath.Base(m.file)
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return -1
	}, strings.TrimSuffix(base, filepath.Ext(base)))
	name = strings.TrimLeft(name[:min(len(name), maxName)], "-")
	if name == "" || name == "config" { // every file has that name
		return "iotdb-config"
	}
	return name
}

// maxName is the maximum length of a run's name.
const maxName = 60
