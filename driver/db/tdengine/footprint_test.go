package tdengine

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFilesOfAVnode checks that files of rows and of metadata count, and that the log does not. A
// vgroup may be in several folders. One on another host is missing, and does not have 0 bytes.
func TestFilesOfAVnode(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for name, bytes := range map[string]int{
		filepath.Join(first, "vnode", "vnode7", "tsdb", "v7f1680ver1.data"): 500,
		filepath.Join(first, "vnode", "vnode7", "tsdb", "v7f1680ver1.stt"):  60,
		filepath.Join(second, "vnode", "vnode7", "tsdb", "v7f1681.data"):    4000,
		filepath.Join(first, "vnode", "vnode7", "meta", "main.tdb"):         30000,
		filepath.Join(first, "vnode", "vnode7", "wal", "00000.log"):         1 << 20,
		filepath.Join(first, "vnode", "vnode70", "tsdb", "v70f1.data"):      1 << 20,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, make([]byte, bytes), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if rows, all, here := vnode([]string{first, second}, "7"); rows != 4560 || all < 34560 || all >= 1<<20 || !here {
		t.Errorf("%d bytes of rows of %d, here %v; want 4560 in the blocks of 34560", rows, all, here)
	}
	if _, _, here := vnode([]string{first, second}, "8"); here {
		t.Error("a vgroup without files is here")
	}
}

func TestParseFigure(t *testing.T) {
	text := "Total_Blocks=[100] Total_Size=[944.5 KiB] Inmem_Rows=[12] Stt_Rows=[34] "
	if size, memory, pending := parseFigure(totalSize, text), parseFigure(inMemory, text), parseFigure(unmerged, text); size != 944.5 || memory != 12 || pending != 34 {
		t.Errorf("%v KiB, %v rows in memory, %v not merged", size, memory, pending)
	}
}
