// Package connection is the options by which servers are reached: the same
// names, in the same words, for every driver that has a server.
package connection

import (
	"cmp"
	"slices"
	"time"

	"github.com/tsmark/tsmark/internal/option"
)

// The names of the options.
const (
	Host     = "host"
	Port     = "port"
	Database = "database"
	User     = "user"
	Password = "password"
	TLS      = "tls"
	Timeout  = "timeout"
)

// The values of TLS beside an empty one, for which the driver decides.
const (
	On       = "on"
	Off      = "off"
	Insecure = "insecure" // anybody's certificate is taken
)

// Options lists the options: all but Database as they usually are. What own says
// of one of them, which it names, takes the place of that; an own Empty also
// takes that of a default. Any other own option stands behind the one before it.
func Options(own ...option.Option) []option.Option {
	list := []option.Option{
		{Name: Host, Default: "127.0.0.1", Help: "name or address of the server"},
		{Name: Port, Type: option.Port(), Help: "port of the server"},
		{Name: User, Help: "user, where the server asks for one"},
		{Name: Password, Secret: true, Help: "its password"},
		{Name: TLS, Type: option.Choice(On, Off, Insecure), Empty: "off where the server runs on this machine, else on",
			Help: "encrypt the connection: on, off, or insecure (anybody's certificate is taken)"},
		{Name: Timeout, Type: option.Duration(), Default: "60s", Help: "longest wait for a connection and for the acknowledgement of a batch"},
	}
	at := -1
	for _, o := range own {
		named := slices.IndexFunc(list, func(usual option.Option) bool { return usual.Name == o.Name })
		if named < 0 {
			at++
			list = slices.Insert(list, at, o)
			continue
		}
		at = named
		usual := &list[at]
		if o.Empty != "" {
			usual.Default = ""
		}
		usual.Default, usual.Empty, usual.Help = cmp.Or(o.Default, usual.Default), cmp.Or(o.Empty, usual.Empty), cmp.Or(o.Help, usual.Help)
	}
	return list
}

// Settings are the values of the options.
type Settings struct {
	Host, Port, Database, User, Password, TLS string
	Timeout                                   time.Duration
}

// Of reads the options.
func Of(v option.Values) Settings {
	return Settings{
		Host: v[Host], Port: v[Port], Database: v[Database], User: v[User], Password: v[Password],
		TLS: v[TLS], Timeout: v.Duration(Timeout),
	}
}
