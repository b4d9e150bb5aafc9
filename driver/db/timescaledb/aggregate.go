package timescaledb

import (
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/driver/db/postgres"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// refreshed is how often the policy of an aggregate that is kept up brings it up to date.
const refreshed = "10 seconds"

// aggregates implements continuous aggregates with TimescaleDB's own views. A view is refreshed
// completely after the load, or by a policy. A query of a view with a policy adds the rows that the
// policy has not reached: a real-time aggregate.
func aggregates() *sqlkit.Aggregates {
	view := func(a *sqlkit.Aggregate, only bool) string {
		return fmt.Sprintf("CREATE MATERIALIZED VIEW %s WITH (timescaledb.continuous, timescaledb.materialized_only = %t) AS\n%s\nWITH NO DATA", a.Ident, only, a.Select)
	}
	return &sqlkit.Aggregates{
		Kind: "materialized view",
		Make: func(a *sqlkit.Aggregate) []string {
			return []string{view(a, true), fmt.Sprintf("CALL refresh_continuous_aggregate(%s, NULL, NULL)", postgres.Literal(a.Ident))}
		},
		Keep: func(a *sqlkit.Aggregate) []string {
			// The policy refreshes in one batch. Newer releases refresh batches from the newest to the
			// oldest, so a real-time aggregate lacks rows until the policy has reached the oldest: its
			// watermark is past them.
			policy := fmt.Sprintf("PERFORM add_continuous_aggregate_policy(%s, start_offset => NULL, end_offset => NULL, schedule_interval => INTERVAL '%s'", postgres.Literal(a.Ident), refreshed)
			return []string{view(a, false), fmt.Sprintf("DO $$ BEGIN\n  %[1]s, buckets_per_batch => 0);\nEXCEPTION WHEN undefined_function THEN\n  %[1]s);\nEND $$", policy)}
		},
		Alone: true, // no transaction refreshes one
		Bytes: func(m *query.Materialized) string {
			return fmt.Sprintf(`SELECT hypertable_size(format('%%I.%%I', materialization_hypertable_schema, materialization_hypertable_name)::regclass)
				FROM timescaledb_information.continuous_aggregates WHERE view_name = %s AND view_schema = current_schema()`, postgres.Literal(m.Name()))
		},
		Lacks: func(err error) bool {
			var refused *pgwire.Error
			return errors.As(err, &refused) && refused.SQLState() == stateNotSupported // by the Apache edition
		},
	}
}

// stateNotSupported is the SQLSTATE feature_not_supported.
const stateNotSupported = "0A000"
