package tsbs

import (
	"fmt"

	"github.com/tsmark/tsmark/series"
)

// subsystem is a table of a host: what TSBS calls a measurement.
type subsystem struct {
	table *series.Table
	walks []walk // in the order of their draws; of the host's states these are the subsystem's
	first int    // position of the first of them among the host's states

	// draw makes the draws of building the subsystem on a host, and sets the states that do not
	// begin at 0. If keep is set the subsystem itself stores the constants.
	draw func(r *random, host uint32, states []float64, keep bool)
	// step is nil where r.step of the walks does it.
	step func(r *random, host uint32, states []float64)
	// fill writes the fields of the rows of the hosts from first on; states
	// holds all states of these hosts, stride a host. It is nil where the
	// fields are the states cut to integers.
	fill func(run *series.Run, at int, first uint32, hosts int, states []float64, stride int, seconds int64)
}

func (s *subsystem) rows(run *series.Run, at int, first uint32, hosts int, states []float64, stride int, seconds int64) {
	if s.fill != nil {
		s.fill(run, at, first, hosts, states[s.first:], stride, seconds)
		return
	}
	wholes(run, 0, at, hosts, states[s.first:], stride, len(s.walks))
}

// wholes writes states cut to integers into consecutive fields.
func wholes(run *series.Run, field, at, hosts int, states []float64, stride, n int) {
	for f := range n {
		values := run.Columns[field+f].Ints[at : at+hosts]
		for i := range values {
			values[i] = int64(states[i*stride+f])
		}
	}
}

// ints makes the fields of a table of integers.
func ints(names ...string) []series.Field {
	fields := make([]series.Field, len(names))
	for i, n := range names {
		fields[i] = series.Field{Name: n, Type: series.Int}
	}
	return fields
}

// cpuSubsystem returns the table cpu with the first fields of its ten.
func cpuSubsystem(fields int) *subsystem {
	return &subsystem{
		table: &series.Table{Name: cpuTable, Fields: ints(cpuFields()[:fields]...)},
		walks: repeat(fields, boundedWalk(0, cpuHigh)),
		draw: func(r *random, _ uint32, states []float64, _ bool) {
			for i := range fields {
				states[i] = r.float64() * cpuHigh
			}
		},
	}
}

// devopsSubsystems returns the nine tables of TSBS's devops use case, in its order, for scale
// hosts.
func devopsSubsystems(scale uint32) []*subsystem {
	return []*subsystem{
		cpuSubsystem(cpuFieldCount), diskIO(scale), disk(scale), kernel(scale), memory(scale),
		network(scale), nginx(scale), postgres(), redis(scale),
	}
}

const (
	kib = 1 << 10
	gib = 1 << 30
)

func diskIO(scale uint32) *subsystem {
	serial := &serials{number: make([]uint32, scale)}
	return &subsystem{
		table: &series.Table{
			Name:   "diskio",
			Tags:   []series.Tag{{Key: "serial", Values: serial}},
			Fields: ints("reads", "writes", "read_bytes", "write_bytes", "read_time", "write_time", "io_time"),
		},
		walks: append(append(repeat(2, counter(50)), repeat(2, counter(100))...), repeat(3, counter(5))...),
		draw: func(r *random, host uint32, _ []float64, keep bool) {
			a, b, c := r.intn(1000), r.intn(1000), r.intn(1000)
			if keep {
				serial.number[host] = uint32(a*1_000_000 + b*1000 + c)
			}
		},
	}
}

// serials are serial numbers in three groups of three digits.
type serials struct{ number []uint32 }

// Append implements series.TagValues.
func (s *serials) Append(dst []byte, series uint32) ([]byte, bool) {
	n := s.number[series]
	digits := func(dst []byte, n uint32) []byte {
		return append(dst, '0'+byte(n/100%10), '0'+byte(n/10%10), '0'+byte(n%10))
	}
	dst = append(digits(dst, n/1_000_000), '-')
	dst = append(digits(dst, n/1000), '-')
	return digits(dst, n), true
}

func disk(scale uint32) *subsystem {
	const total, inodeSize = 1 << 40, 4 * kib
	path := &series.Dictionary{Index: make([]uint8, scale)}
	for i := range 10 {
		path.Values = append(path.Values, fmt.Sprintf("/dev/sda%d", i))
	}
	fsType := &series.Dictionary{Values: []string{"ext3", "ext4", "btrfs"}, Index: make([]uint8, scale)}
	return &subsystem{
		table: &series.Table{
			Name:   "disk",
			Tags:   []series.Tag{{Key: "path", Values: path}, {Key: "fstype", Values: fsType}},
			Fields: ints("total", "free", "used", "used_percent", "inodes_total", "inodes_free", "inodes_used"),
		},
		walks: []walk{boundedWalk(50, total)},
		draw: func(r *random, host uint32, states []float64, keep bool) {
			p, f := r.intn(10), r.intn(3)
			states[0] = total / 2
			if keep {
				path.Index[host], fsType.Index[host] = uint8(p), uint8(f)
			}
		},
		fill: func(run *series.Run, at int, _ uint32, hosts int, states []float64, stride int, _ int64) {
			c := run.Columns
			for i := range hosts {
				free := int64(states[i*stride])
				used := int64(total) - free
				c[0].Ints[at+i] = total
				c[1].Ints[at+i] = free
				c[2].Ints[at+i] = used
				c[3].Ints[at+i] = int64(100 * (float64(used) / total))
				c[4].Ints[at+i] = total / inodeSize
				c[5].Ints[at+i] = free / inodeSize
				c[6].Ints[at+i] = total/inodeSize - free/inodeSize
			}
		},
	}
}

func kernel(scale uint32) *subsystem {
	bootTime := make([]uint8, scale)
	walks := repeat(5, counter(5))
	return &subsystem{
		table: &series.Table{
			Name:   "kernel",
			Fields: ints("boot_time", "interrupts", "context_switches", "processes_forked", "disk_pages_in", "disk_pages_out"),
		},
		walks: walks,
		draw: func(r *random, host uint32, _ []float64, keep bool) {
			if t := r.int63n(240); keep {
				bootTime[host] = uint8(t)
			}
		},
		fill: func(run *series.Run, at int, first uint32, hosts int, states []float64, stride int, _ int64) {
			for i := range hosts {
				run.Columns[0].Ints[at+i] = int64(bootTime[first+uint32(i)])
			}
			wholes(run, 1, at, hosts, states, stride, len(walks))
		},
	}
}

func memory(scale uint32) *subsystem {
	choices := []int64{8 * gib, 12 * gib, 16 * gib}
	total := make([]uint8, scale) // a choice
	fields := ints("total", "available", "used", "free", "cached", "buffered")
	for _, name := range []string{"used_percent", "available_percent", "buffered_percent"} {
		fields = append(fields, series.Field{Name: name, Type: series.Float})
	}
	// A step is a 64th of the host's memory.
	walks := make([][]walk, len(choices))
	for i, bytes := range choices {
		walks[i] = repeat(3, walk{deviation: float64(bytes) / 64, high: float64(bytes)})
	}
	return &subsystem{
		table: &series.Table{Name: "mem", Fields: fields},
		walks: walks[0],
		draw: func(r *random, host uint32, states []float64, keep bool) {
			choice := r.intn(len(choices))
			for i := range 3 {
				states[i] = r.float64() * float64(choices[choice])
			}
			if keep {
				total[host] = uint8(choice)
			}
		},
		step: func(r *random, host uint32, states []float64) { r.step(states, walks[total[host]]) },
		fill: func(run *series.Run, at int, first uint32, hosts int, states []float64, stride int, _ int64) {
			c := run.Columns
			for i := range hosts {
				all := choices[total[first+uint32(i)]]
				used, cached, buffered := int64(states[i*stride]), int64(states[i*stride+1]), int64(states[i*stride+2])
				available := all - used
				c[0].Ints[at+i] = all
				c[1].Ints[at+i] = available
				c[2].Ints[at+i] = used
				c[3].Ints[at+i] = available // TSBS takes free for available
				c[4].Ints[at+i] = cached
				c[5].Ints[at+i] = buffered
				c[6].Floats[at+i] = 100 * (float64(used) / float64(all))
				c[7].Floats[at+i] = 100 * (float64(available) / float64(all))
				c[8].Floats[at+i] = 100 * float64(buffered) / float64(all)
			}
		},
	}
}

func network(scale uint32) *subsystem {
	card := &series.Suffixed{Prefix: "eth", Number: make([]uint32, scale)}
	return &subsystem{
		table: &series.Table{
			Name: "net",
			Tags: []series.Tag{{Key: "interface", Values: card}},
			Fields: ints("bytes_sent", "bytes_recv", "packets_sent", "packets_recv",
				"err_in", "err_out", "drop_in", "drop_out"),
		},
		walks: append(repeat(4, counter(50)), repeat(4, counter(5))...),
		draw: func(r *random, host uint32, _ []float64, keep bool) {
			if n := r.intn(4); keep {
				card.Number[host] = uint32(n)
			}
		},
	}
}

// service returns the tags of a server process and how they are drawn: the
// server's name first, then the port.
func service(name string, scale uint32) ([]series.Tag, func(r *random, host uint32, states []float64, keep bool)) {
	server := &series.Suffixed{Prefix: name + "_", Number: make([]uint32, scale)}
	port := &series.Suffixed{Number: make([]uint32, scale)}
	tags := []series.Tag{{Key: "port", Values: port}, {Key: "server", Values: server}}
	return tags, func(r *random, host uint32, _ []float64, keep bool) {
		s, p := r.intn(100_000), r.int63n(20_000)+1024
		if keep {
			server.Number[host], port.Number[host] = uint32(s), uint32(p)
		}
	}
}

func nginx(scale uint32) *subsystem {
	tags, draw := service("nginx", scale)
	up, busy := counter(5), boundedWalk(5, 100)
	return &subsystem{
		table: &series.Table{
			Name: "nginx", Tags: tags,
			Fields: ints("accepts", "active", "handled", "reading", "requests", "waiting", "writing"),
		},
		walks: []walk{up, busy, up, busy, up, busy, busy},
		draw:  draw,
	}
}

func postgres() *subsystem {
	walks := repeat(16, boundedWalk(5, 1000))
	walks[12] = boundedWalk(1024, gib)
	return &subsystem{
		table: &series.Table{
			Name: "postgresl", // sic
			Fields: ints("numbackends", "xact_commit", "xact_rollback", "blks_read", "blks_hit",
				"tup_returned", "tup_fetched", "tup_inserted", "tup_updated", "tup_deleted", "conflicts",
				"temp_files", "temp_bytes", "deadlocks", "blk_read_time", "blk_write_time"),
		},
		walks: walks,
		draw:  func(*random, uint32, []float64, bool) {},
	}
}

func redis(scale uint32) *subsystem {
	tags, draw := service("redis", scale)
	var walks []walk
	var names []string
	add := func(w walk, fields ...string) {
		walks = append(walks, repeat(len(fields), w)...)
		names = append(names, fields...)
	}
	const memory = 16 * gib
	add(counter(5), "total_connections_received")
	add(counter(50), "expired_keys", "evicted_keys", "keyspace_hits", "keyspace_misses")
	add(drift(1), "instantaneous_ops_per_sec", "instantaneous_input_kbps", "instantaneous_output_kbps")
	add(boundedWalk(50, 10_000), "connected_clients")
	firstMemory := len(walks)
	add(boundedWalk(50, memory), "used_memory", "used_memory_rss", "used_memory_peak", "used_memory_lua")
	add(boundedWalk(50, 10_000), "rdb_changes_since_last_save")
	add(boundedWalk(5, 1000), "sync_full", "sync_partial_ok", "sync_partial_err", "pubsub_channels", "pubsub_patterns",
		"latest_fork_usec", "connected_slaves", "master_repl_offset", "repl_backlog_active", "repl_backlog_size",
		"repl_backlog_histlen")
	add(boundedWalk(5, 100), "mem_fragmentation_ratio")
	add(boundedWalk(5, 1000), "used_cpu_sys", "used_cpu_user", "used_cpu_sys_children", "used_cpu_user_children")
	return &subsystem{
		table: &series.Table{Name: "redis", Tags: tags, Fields: ints(append([]string{"uptime_in_seconds"}, names...)...)},
		walks: walks,
		draw: func(r *random, host uint32, states []float64, keep bool) {
			for i := range 4 {
				states[firstMemory+i] = memory / 2
			}
			draw(r, host, states, keep)
		},
		fill: func(run *series.Run, at int, _ uint32, hosts int, states []float64, stride int, seconds int64) {
			uptime := run.Columns[0].Ints[at : at+hosts]
			for i := range uptime {
				uptime[i] = seconds
			}
			wholes(run, 1, at, hosts, states, stride, len(walks))
		},
	}
}
