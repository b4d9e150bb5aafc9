//go:build !cgo || light || !(linux || darwin) || !(amd64 || arm64)

package witness

func openDuckDB(f *File) (reader, error) {
	return nil, cannot("this tsmark was built without DuckDB, whose reader checks files of %s", f.Format)
}
