package tsbs

import (
	"strconv"

	"github.com/tsmark/tsmark/series"
)

// region is a cloud region and its data centres, as TSBS lists them.
type region struct {
	name        string
	datacenters []string
}

func regions() []region {
	in := func(name string, zones ...string) region {
		r := region{name: name}
		for _, z := range zones {
			r.datacenters = append(r.datacenters, name+z)
		}
		return r
	}
	return []region{
		in("us-east-1", "a", "b", "c", "e"),
		in("us-west-1", "a", "b"),
		in("us-west-2", "a", "b", "c"),
		in("eu-west-1", "a", "b", "c"),
		in("eu-central-1", "a", "b"),
		in("ap-southeast-1", "a", "b"),
		in("ap-southeast-2", "a", "b"),
		in("ap-northeast-1", "a", "c"),
		in("sa-east-1", "a", "b", "c"),
	}
}

// numbers returns "0" to "n-1".
func numbers(n int) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = strconv.Itoa(i)
	}
	return s
}

// cpuFields are the fields of the cpu table, integers from 0 to 100.
func cpuFields() []string {
	return []string{
		"usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait",
		"usage_irq", "usage_softirq", "usage_steal", "usage_guest", "usage_guest_nice",
	}
}

const (
	cpuFieldCount = 10
	cpuLow        = 0
	cpuHigh       = 100
)

// hostTags draws and keeps the tags of hosts: a byte a tag and host, since at
// ten million hosts anything more would not fit.
type hostTags struct {
	regions []region
	first   []int // per region, the position of its first data centre among all

	datacenter, rack, os, arch, team            series.Dictionary
	service, serviceVersion, serviceEnvironment series.Dictionary
}

func newHostTags(scale uint32) *hostTags {
	t := &hostTags{regions: regions()}
	dictionary := func(values ...string) series.Dictionary {
		return series.Dictionary{Values: values, Index: make([]uint8, scale)}
	}
	var datacenters []string
	for _, r := range t.regions {
		t.first = append(t.first, len(datacenters))
		datacenters = append(datacenters, r.datacenters...)
	}
	t.datacenter = dictionary(datacenters...)
	t.rack = dictionary(numbers(100)...)
	t.os = dictionary("Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10")
	t.arch = dictionary("x64", "x86")
	t.team = dictionary("SF", "NYC", "LON", "CHI")
	t.service = dictionary(numbers(20)...)
	t.serviceVersion = dictionary(numbers(2)...)
	t.serviceEnvironment = dictionary("production", "staging", "test")
	return t
}

// draw draws the tags of one host. A nil receiver only passes over the draws.
func (t *hostTags) draw(r *random, regions []region, host uint32) {
	// Each draw is on its own line: their order defines the data.
	reg := r.intn(len(regions))
	dc := r.intn(len(regions[reg].datacenters))
	rack := r.int63n(100)
	arch := r.intn(2)
	os := r.intn(3)
	service := r.int63n(20)
	version := r.int63n(2)
	environment := r.intn(3)
	team := r.intn(4)
	if t == nil {
		return
	}
	t.datacenter.Index[host] = uint8(t.first[reg] + dc)
	t.rack.Index[host] = uint8(rack)
	t.arch.Index[host] = uint8(arch)
	t.os.Index[host] = uint8(os)
	t.service.Index[host] = uint8(service)
	t.serviceVersion.Index[host] = uint8(version)
	t.serviceEnvironment.Index[host] = uint8(environment)
	t.team.Index[host] = uint8(team)
}

// tags returns the tags in the order in which TSBS writes them.
func (t *hostTags) tags() []series.Tag {
	// A region follows from its data centre, so both share one index.
	region := &series.Dictionary{Index: t.datacenter.Index}
	for _, r := range t.regions {
		for range r.datacenters {
			region.Values = append(region.Values, r.name)
		}
	}
	return []series.Tag{
		{Key: "hostname", Values: series.Numbered{Prefix: "host_"}},
		{Key: "region", Values: region},
		{Key: "datacenter", Values: &t.datacenter},
		{Key: "rack", Values: &t.rack},
		{Key: "os", Values: &t.os},
		{Key: "arch", Values: &t.arch},
		{Key: "team", Values: &t.team},
		{Key: "service", Values: &t.service},
		{Key: "service_version", Values: &t.serviceVersion},
		{Key: "service_environment", Values: &t.serviceEnvironment},
	}
}
