package main

import (
	"embed"
	"fmt"
	"io/fs"
	"runtime/debug"
	"slices"
)

// DuckDB is linked in as libraries that contain code of others, without its licences in
// their module. So the licences are kept here, as they are in DuckDB's own repository.
//
//go:embed duckdb
var duckdbFiles embed.FS

// The source of the list of DuckDB's parts. A program with another version of the
// bindings may contain other parts, and is refused.
const (
	bindings        = "github.com/duckdb/duckdb-go-bindings"
	bindingsVersion = "v0.3.5"
	duckdbVersion   = "v1.4.5" // as the bindings' Makefile has it
)

// bundle is a part of DuckDB.
type bundle struct {
	name      string // of its folder
	library   string // its library, as the linker names it; empty: in duckdb_static or in that of another part
	licence   string // SPDX's identifier or expression; LicenseRef- begins one outside SPDX's list
	copyright string // empty: its licence does not name a holder
}

// bundles lists DuckDB and its parts.
func bundles() []bundle {
	return []bundle{
		{"duckdb", "duckdb_static", "MIT", "2018-2025 Stichting DuckDB Foundation"},
		{"alp", "", "MIT", "2023 CWI, Azim Afroozeh, Leonardo Xavier Kuffo Rivero"},
		{"brotli", "", "MIT", "2009, 2010, 2013-2016 the Brotli Authors"},
		{"concurrentqueue", "", "(BSD-2-Clause OR BSL-1.0) AND Zlib", "2013-2016 Cameron Desrochers; 2015 Jeff Preshing"},
		{"fast_float", "", "MIT", ""},
		{"fastpforlib", "duckdb_fastpforlib", "Apache-2.0", ""},
		{"fmt", "duckdb_fmt", "MIT", "2012-present Victor Zverovich"},
		{"fsst", "duckdb_fsst", "MIT", "2018-2020 CWI, TU Munich, FSU Jena"},
		{"httplib", "", "MIT", "2017 yhirose"},
		{"hyperloglog", "duckdb_hyperloglog", "MIT", "2012 Art.sy, Inc."},
		{"icu", "icu_extension", "ICU", "1991-2020 Unicode, Inc.; 1995-2016 International Business Machines Corporation and others"},
		{"jaro_winkler", "", "MIT", "2022 Max Bachmann"},
		{"jemalloc", "jemalloc_extension", "BSD-2-Clause", "2002-present Jason Evans; 2007-2012 Mozilla Foundation; 2009-present Facebook, Inc."},
		{"libpg_query", "duckdb_pg_query", "BSD-3-Clause AND PostgreSQL", "2015 Lukas Fittl; 1996-2017 PostgreSQL Global Development Group; 1994 The Regents of the University of California"},
		{"lz4", "", "BSD-2-Clause", "2011-2020 Yann Collet"},
		{"mbedtls", "duckdb_mbedtls", "Apache-2.0 OR GPL-2.0-or-later", ""},
		{"miniz", "duckdb_miniz", "MIT", "2013-2014 RAD Game Tools and Valve Software; 2010-2014 Rich Geldreich and Tenacious Software LLC"},
		{"parquet", "parquet_extension", "Apache-2.0", "2014 The Apache Software Foundation and others"},
		{"pcg", "", "MIT", "2014-2017 Melissa O'Neill and PCG Project contributors"},
		{"pdqsort", "", "Zlib", "2021 Orson Peters"},
		{"re2", "duckdb_re2", "BSD-3-Clause", "2009 The RE2 Authors"},
		{"ska_sort", "", "BSL-1.0", "2016 Malte Skarupke"},
		{"skiplist", "duckdb_skiplistlib", "MIT", "2017-2023 Paul Ross"},
		{"snappy", "", "BSD-3-Clause", "2011 Google Inc."},
		{"snowball", "", "BSD-3-Clause", "2001 Dr Martin Porter; 2004, 2005 Richard Boulton; 2013 Yoshiki Shibukawa; 2006-2019 Olly Betts"},
		{"tdigest", "", "Apache-2.0", "Derrick R. Burns, Ted Dunning"},
		{"thrift", "", "Apache-2.0", "The Apache Software Foundation"},
		{"tpcds-dsdgen", "tpcds_extension", "LicenseRef-TPC-Legal-Notice", "TPC; Gradient Systems"},
		{"tpch-dbgen", "tpch_extension", "LicenseRef-TPC-EULA-2.2", "TPC"},
		{"utf8proc", "duckdb_utf8proc", "MIT AND Unicode-DFS-2015", "2014-2019 Steven G. Johnson, Jiahao Chen, Tony Kelman, Jonas Fonseca and others; 2009, 2013 Public Software Group e. V.; 1991-2007 Unicode, Inc."},
		{"vergesort", "", "MIT", "2015 Morwenn"},
		{"yyjson", "duckdb_yyjson", "MIT", "2020 YaoYuan"},
		{"zstd", "duckdb_zstd", "BSD-3-Clause", "2016-present Facebook, Inc."},
	}
}

// ownLibraries returns the libraries of DuckDB's own code besides duckdb_static.
func ownLibraries() []string {
	return []string{"autocomplete_extension", "core_functions_extension", "json_extension"}
}

// hasDuckDB reports whether one of the modules has DuckDB. It returns an error if the contents
// of that version are unknown.
func hasDuckDB(modules []*debug.Module) (bool, error) {
	at := slices.IndexFunc(modules, func(m *debug.Module) bool { return m.Path == bindings })
	if at < 0 {
		return false, nil
	}
	version := modules[at].Version
	if r := modules[at].Replace; r != nil {
		version = r.Path + " " + r.Version
	}
	if version != bindingsVersion {
		return false, fmt.Errorf("the program has %s %s, and the licences of DuckDB's bundled libraries are kept for %s (DuckDB %s): "+
			"the Makefile of the new version names its DuckDB; compare the licences in third_party, extension and src of that one with tools/release/notice/duckdb, then set the versions in tools/release/notice/duckdb.go",
			bindings, version, bindingsVersion, duckdbVersion)
	}
	return true, nil
}

// bundledParts returns the parts of a program that come with DuckDB, if it has DuckDB.
func bundledParts(modules []*debug.Module) ([]part, error) {
	has, err := hasDuckDB(modules)
	if err != nil || !has {
		return nil, err
	}
	var parts []part
	for _, b := range bundles() {
		files, err := fs.Sub(duckdbFiles, "duckdb/"+b.name)
		if err != nil {
			return nil, err
		}
		name := "DuckDB " + duckdbVersion
		if b.name != "duckdb" {
			name += ": " + b.name
		}
		name += " (" + b.licence
		if b.copyright != "" {
			name += ", © " + b.copyright
		}
		parts = append(parts, part{name + ")", files, false})
	}
	return parts, nil
}
