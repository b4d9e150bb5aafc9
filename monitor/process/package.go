package process

import (
	"bufio"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"regexp"

	"github.com/shirou/gopsutil/v4/process"
)

// PackageVersion returns the version of the package of Debian's or its kin which the program of
// a process is from, whether installed or unpacked elsewhere; empty: it is from none, or
// that cannot be seen.
func PackageVersion(ctx context.Context, pid int) string {
	p := process.Process{Pid: int32(pid)}
	program, err := p.ExeWithContext(ctx)
	if err != nil {
		return ""
	}
	return packageOf(program)
}

// entry matches the beginning of a version's entry in a changelog (Debian Policy, 4.4).
var entry = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+ \(([^ )]+)\) `)

// packageOf returns the version of the package of a program <root>/bin/<package> or
// <root>/sbin/<package>: the first version in the changelog that each package has in
// <root>/share/doc/<package> (Debian Policy, 12.7).
func packageOf(program string) string {
	folder := filepath.Dir(program)
	if name := filepath.Base(folder); name != "bin" && name != "sbin" {
		return ""
	}
	changelog := filepath.Join(filepath.Dir(folder), "share", "doc", filepath.Base(program), "changelog.Debian.gz")
	f, err := os.Open(changelog)
	if err != nil {
		return ""
	}
	defer f.Close()
	plain, err := gzip.NewReader(f)
	if err != nil {
		return ""
	}
	line, _ := bufio.NewReaderSize(plain, 4096).ReadSlice('\n')
	if found := entry.FindSubmatch(line); found != nil {
		return string(found[1])
	}
	return ""
}
