package client

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// Flags of the parts of a container's key other than its name.
const (
	keyDatabase     = 1 << 0
	keyLarge        = 1 << 1
	keyAffinity     = 1 << 2
	keyAffinityText = 1 << 3
	keySystem       = 1 << 4
	keySystemText   = 1 << 5
)

// MaxName is the length in bytes that names of containers and columns may have where
// blocks are of 64 KiB, the default; larger blocks allow longer ones.
const MaxName = 16384

// CheckName returns an error for a text that is not allowed as the name of a container or column.
func CheckName(name string) error {
	if name == "" {
		return fmt.Errorf("a name of GridDB's cannot be empty")
	}
	if len(name) > MaxName {
		return fmt.Errorf("names of GridDB's have %d bytes at most, and this has %d", MaxName, len(name))
	}
	for _, c := range name {
		if !NameCharacter(c) {
			return fmt.Errorf("the name %q has the character %q, and names of GridDB's have letters and digits of ASCII, and _ . - / = alone", name, c)
		}
	}
	return nil
}

// NameCharacter reports whether names of containers and columns may have a character.
func NameCharacter(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.ContainsRune("_.-/=", c)
}

// Partition returns the partition of a container in a cluster with the given number of partitions.
func Partition(name string, partitions int) int {
	base, affinity, found := strings.Cut(name, "@")
	if found {
		if n, err := strconv.ParseUint(affinity, 10, 62); err == nil && strconv.FormatUint(n, 10) == affinity {
			return int(n % uint64(partitions))
		}
		base = affinity
	}
	return int(crc32.ChecksumIEEE([]byte(lower(base))) % uint32(partitions))
}

// lower is a name in lower case, of ASCII alone.
func lower(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}, name)
}

// appendKey appends the key of a container: its name in lower case, its partition if one was chosen,
// and a bitmap of upper-case letters.
func appendKey(dst []byte, database int64, name string) []byte {
	base, affinity, found := strings.Cut(name, "@")
	body := []byte{0}
	if database != 0 {
		body[0] |= keyDatabase
		body = binary.LittleEndian.AppendUint64(body, uint64(database))
	}
	letters := base
	body = append(AppendSize(body, len(base)), lower(base)...)
	if found {
		if n, err := strconv.ParseUint(affinity, 10, 62); err == nil && strconv.FormatUint(n, 10) == affinity {
			body[0] |= keyAffinity
			body = AppendSize(body, int(n))
		} else {
			body[0] |= keyAffinityText
			body = append(AppendSize(body, len(affinity)), lower(affinity)...)
			letters += affinity
		}
	}
	var bits byte
	for i := range len(letters) {
		if i > 0 && i%8 == 0 {
			body = append(body, bits)
			bits = 0
		}
		if c := letters[i]; c >= 'A' && c <= 'Z' {
			bits |= 1 << (i % 8)
		}
	}
	if letters != "" {
		body = append(body, bits)
	}
	return append(AppendSize(dst, len(body)), body...)
}

// key decodes the key of a container, and returns its name.
func (r *reader) key() string {
	k := reader{b: r.take(r.size())}
	flags := k.byte()
	if flags&keyDatabase != 0 {
		k.long()
	}
	base := string(k.take(k.size()))
	letters, large, affinity, system := base, "", "", ""
	if flags&keyLarge != 0 {
		large = "@" + strconv.Itoa(k.size())
	}
	if flags&keyAffinity != 0 {
		affinity = strconv.Itoa(k.size())
	} else if flags&keyAffinityText != 0 {
		affinity = string(k.take(k.size()))
		letters += affinity
	}
	if flags&keySystem != 0 {
		system = strconv.Itoa(k.size())
	} else if flags&keySystemText != 0 {
		system = string(k.take(k.size()))
		letters += system
	}
	cased := []byte(letters)
	bits := k.take((len(letters) + 7) / 8)
	for i := range cased {
		if bits != nil && bits[i/8]>>(i%8)&1 != 0 && cased[i] >= 'a' && cased[i] <= 'z' {
			cased[i] -= 'a' - 'A'
		}
	}
	if k.err != nil {
		r.err = k.err
		return ""
	}
	name := string(cased[:len(base)])
	rest := string(cased[len(base):])
	if flags&keyAffinityText != 0 {
		affinity, rest = rest[:len(affinity)], rest[len(affinity):]
	}
	if flags&keySystemText != 0 {
		system = rest
	}
	if flags&(keySystem|keySystemText) != 0 {
		name += "#" + system
	}
	name += large
	if flags&(keyAffinity|keyAffinityText) != 0 {
		name += "@" + affinity
	}
	return name
}
