package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// settingOptions are the options that connections set on the server, with the setting's name.
var settingOptions = []struct{ option, setting string }{
	{optionCommit, "synchronous_commit"}, {optionWorkMemory, "work_mem"}, {optionCompilation, "jit"},
}

// needed are settings without which tsmark's statements have another meaning.
var needed = []struct{ setting, value string }{{"standard_conforming_strings", on}}

// EffectiveOptions implements driver.DB. A pooler may drop the parameters of a connection's start, as
// PgBouncer does with those in its ignore_startup_parameters.
func (d *database) EffectiveOptions(ctx context.Context) ([]driver.EffectiveOption, error) {
	var list []driver.EffectiveOption
	var columns []string
	add := func(option, wanted, setting string) {
		remedy := fmt.Sprintf("a pooler between may drop it: connect to the server itself, or run ALTER ROLE ... SET %s = '%s'", setting, wanted)
		list = append(list, driver.EffectiveOption{Option: option, Wanted: wanted, Setting: setting, Remedy: remedy})
		column := fmt.Sprintf("current_setting('%s')", setting)
		if option == optionWorkMemory { // the server reports it in another unit
			column = fmt.Sprintf("CASE pg_size_bytes(%s) WHEN pg_size_bytes('%s') THEN '%[2]s' ELSE %[1]s END", column, wanted)
		}
		columns = append(columns, column)
	}
	for _, s := range settingOptions {
		if v := d.options[s.option]; v != "" {
			add(s.option, v, s.setting)
		}
	}
	for _, s := range needed {
		add("", s.value, s.setting)
	}
	values, err := sqlkit.QueryRow(ctx, d.admin, "SELECT "+strings.Join(columns, ", "))
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Found = values[i].String()
	}
	return list, nil
}
