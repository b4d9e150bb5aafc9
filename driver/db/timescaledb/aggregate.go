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

// aggregates is how TimescaleDB keeps a continuous aggregate: as a view of its own, which
// is refreshed as a whole after the load, or by a policy. One that is kept up is asked
// together with the rows that the policy has not come to: a real-time aggregate.
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
			// In batches, of which newer releases take the newest first, a real-time aggregate
			// lacks rows until the policy has come to the oldest: its watermark is past them.
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
