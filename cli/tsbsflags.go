package cli

// insteadOf names the replacement for a flag of TSBS's programs that tsmark
// does not have. It is empty if TSBS has no such flag. docs/tsbs.md has the same in words.
func insteadOf(flag string) string {
	switch flag {
	case "do-create-db", "do-abort-on-exist":
		return "tsmark load creates the tables, and drops with --replace only what tsmark loaded before"
	case "do-load":
		return "the target null keeps nothing, as in tsmark load null"
	case "db-name":
		return "the database is an option of the target, as in postgres,database=NAME"
	case "pass", "password", "dbpass":
		return "set TSMARK_TARGET_PASSWORD in the environment, TARGET being the target's name, or the option password of the target to a file, as in timescaledb,password=@FILE"
	case "host", "port", "user", "dbuser", "hosts", "url", "urls", "postgres", "admin-db-name", "endpoint", "ilp-bind-to":
		return "it is an option of the target, as in postgres,host=db1,user=bench; tsmark drivers DRIVER lists them"
	case "chunk-time", "partitions", "partition-index", "time-index", "time-partition-index", "field-index", "field-index-count", "in-table-partition-tag",
		"use-hypertable", "use-jsonb-tags", "use-insert", "use-copy", "force-text-format", "create-metrics-table", "gzip", "consistency", "backoff",
		"replication-factor", "replicas", "shards", "aggregation-plan", "chunk-response-size", "write-timeout", "read-timeout", "query-timeout",
		"clickhouse-use-tags", "mongo-use-naive", "timescale-use-json", "timescale-use-tags", "timescale-use-time-bucket":
		return "what belongs to one database is an option of its target, as in timescaledb,chunk_interval=12h; tsmark drivers DRIVER lists them"
	case "hash-workers", "hash-property":
		return "leave it out: a batch goes to the worker that is free"
	case "insert-intervals":
		return "a schedule of writes is --set mixed.row-rate=10000/s of tsmark run --mixed"
	case "flow-control", "no-flow-control", "channel-capacity":
		return "leave it out: the generator waits for the workers by itself"
	case "max-rps":
		return "the rate is --rate, as in --rate 1000/s, with latencies from the time when each query was due"
	case "prewarm-queries":
		return "use --warm-up 5s, the warm-up time per query type"
	case "burn-in":
		return "use --warm-up N: the first N queries of each type are not recorded"
	case "max-queries":
		return "use --queries N"
	case "print-responses":
		return "every query type is verified; tsmark verify does only that"
	case "results-file", "hdr-latencies":
		return "every run is stored; tsmark report --format json --output FILE writes its figures, latencies as histograms"
	case "print-interval":
		return "progress is shown by itself; tsmark report shows the run again"
	case "show-explain":
		return "tsmark queries --format DRIVER prints the texts, to be explained by the database's own client"
	case "file":
		return "tsmark load --file loads the rows of a file; queries are drawn, and --query-type says which"
	case "config":
		return "an experiment is the argument, as in tsmark run FILE.yaml; tsmark run --print writes one"
	case "debug", "log-batches", "profile-file", "memprofile", "write-profile":
		return "leave it out: runs record the resources of client, host and servers by themselves"
	}
	return ""
}
