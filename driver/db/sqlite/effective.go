package sqlite

import (
	"context"
	"strconv"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// EffectiveOptions implements driver.DB: SQLite silently keeps another journal mode if the file system
// does not support the requested one.
func (d *database) EffectiveOptions(ctx context.Context) ([]driver.EffectiveOption, error) {
	pragmas := []driver.EffectiveOption{
		{Option: optionSynchronous, Wanted: d.options[optionSynchronous], Setting: "synchronous", Remedy: "another version of SQLite may have it"},
		{Option: optionCacheSize, Wanted: d.options[optionCacheSize], Setting: "cache_size", Remedy: "choose another size"},
	}
	if d.made.Load() {
		pragmas = append(pragmas, driver.EffectiveOption{Option: optionJournalMode, Wanted: d.options[optionJournalMode], Setting: "journal_mode",
			Remedy: "the file system cannot have it: give a path on a local disk, or choose journal_mode=delete"})
	}
	for i := range pragmas {
		p := &pragmas[i]
		row, err := sqlkit.QueryRow(ctx, d, "PRAGMA "+p.Setting)
		if err != nil {
			return nil, err
		}
		switch p.Found = row[0].String(); p.Setting {
		case "synchronous":
			p.Found = levels()[p.Found]
		case "cache_size": // less than 0: in KiB
			p.Found = strconv.FormatInt(-row[0].Int/1024, 10)
		}
	}
	return pragmas, nil
}

// levels are the values of PRAGMA synchronous as options have them.
func levels() map[string]string {
	return map[string]string{"0": "off", "1": "normal", "2": "full", "3": "extra"}
}
