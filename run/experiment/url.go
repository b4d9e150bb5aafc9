package experiment

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/tsmark/tsmark/internal/secret"
)

// HTTP is the driver of a target that is given by the URL of an HTTP server, until Target.Identify.
const HTTP = "http"

// schemes are the drivers of schemes that are not the name of a driver.
var schemes = map[string]string{"postgresql": "postgres", "mariadb": "mysql", "https": HTTP}

// connectionString matches the beginning of a target that is given by a URL, and its name.
var connectionString = regexp.MustCompile(`^(?:([^=,/:]*)=)?([a-z][a-z0-9+.-]*)://`)

// optionAfter matches the beginning of an option behind a URL, which may have commas of its own.
var optionAfter = regexp.MustCompile(`,[A-Za-z][A-Za-z0-9_.-]*=`)

// splitTarget divides the text of a target into its name, which may be empty, its driver or URL, and
// the options.
func splitTarget(text string) (name, kind string, named bool, options []string) {
	scheme := connectionString.FindStringSubmatchIndex(text)
	if scheme == nil {
		parts := strings.Split(text, ",")
		name, kind, named = strings.Cut(parts[0], "=")
		return name, kind, named, parts[1:]
	}
	if at := optionAfter.FindStringIndex(text[scheme[1]:]); at != nil {
		options = strings.Split(text[scheme[1]+at[0]+1:], ",")
		text = text[:scheme[1]+at[0]]
	}
	if named = scheme[2] >= 0; named {
		name = text[scheme[2]:scheme[3]]
	}
	return name, text[scheme[4]:], named, options
}

// tlsModes are the values of the option tls for what the parameters of connection strings say about
// encryption: the modes of PostgreSQL and MySQL. Empty: the driver's default.
var tlsModes = map[string]string{
	"disable": "off", "disabled": "off", "false": "off", "off": "off", "no": "off", "0": "off",
	"allow": "", "prefer": "", "preferred": "",
	"require": "insecure", "required": "insecure", "skip-verify": "insecure", "insecure": "insecure",
	"verify-ca": "on", "verify_ca": "on", "verify-full": "on", "verify_identity": "on", "true": "on", "on": "on", "yes": "on", "1": "on",
}

// parameters are the options of parameters of connection strings that have other names.
var parameters = map[string]string{"sslmode": "tls", "ssl-mode": "tls", "ssl_mode": "tls", "ssl": "tls", "secure": "tls", "dbname": "database", "db": "database"}

// readURL returns the driver and the options that a connection string stands for:
//
//	SCHEME://USER:PASSWORD@HOST:PORT/DATABASE?OPTION=VALUE&…
//
// Its errors do not quote it, because it may have a password.
func readURL(text string) (driver string, options Options, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || strings.Contains(text, "#") {
		return "", nil, errors.New("is not SCHEME://USER:PASSWORD@HOST:PORT/DATABASE; write special characters of the password as %XX")
	}
	options = make(Options)
	set := func(name, value string) error {
		if _, twice := options[name]; twice {
			return fmt.Errorf("sets %s twice", name)
		}
		if value != "" {
			options[name] = value
		}
		return nil
	}
	if strings.Contains(u.Host, ",") {
		return "", nil, errors.New("names several hosts; name one")
	}
	password, _ := u.User.Password()
	for _, o := range [][2]string{{"host", u.Hostname()}, {"port", u.Port()}, {"user", u.User.Username()}, {"password", password}, {"database", strings.Trim(u.Path, "/")}} {
		if err := set(o[0], o[1]); err != nil {
			return "", nil, err
		}
	}
	if strings.Contains(options["database"], "/") {
		return "", nil, errors.New("has a path of several parts in place of a database; name the driver and its options instead")
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", nil, errors.New("has malformed parameters; write them as ?OPTION=VALUE&…, with special characters as %XX")
	}
	for name, list := range values {
		if option, known := parameters[strings.ToLower(name)]; known {
			name = option
		}
		value := list[0]
		if name == "tls" {
			mode, known := tlsModes[strings.ToLower(value)]
			if !known {
				return "", nil, errors.New("requests an unknown encryption; give tls=on, off or insecure")
			}
			value = mode
		}
		if len(list) > 1 {
			return "", nil, fmt.Errorf("sets %s twice", name)
		}
		if err := set(name, value); err != nil {
			return "", nil, err
		}
	}
	driver = u.Scheme
	if other, known := schemes[driver]; known {
		driver = other
	}
	if driver != HTTP {
		return driver, options, nil
	}
	if options["host"] == "" {
		return "", nil, errors.New("names no host")
	}
	port, encryption := "80", "off"
	if u.Scheme == "https" {
		port, encryption = "443", "on"
	}
	for name, usual := range map[string]string{"port": port, "tls": encryption} {
		if options[name] == "" {
			options[name] = usual
		}
	}
	return driver, options, nil
}

// Identify sets the driver of a target that was given by the URL of an HTTP server.
func (t *Target) Identify(driver string) {
	if t.Name == HTTP {
		t.Name = driver
	}
	t.Driver = driver
	switch driver {
	case "clickhouse": // it has two ports
		t.Options["protocol"], t.Options["http_port"] = HTTP, t.Options["port"]
		delete(t.Options, "port")
	case "influxdb2":
		if bucket, named := t.Options["database"]; named {
			t.Options["bucket"] = bucket
			delete(t.Options, "database")
		}
	}
}

// withoutSecrets returns the text of a target as messages quote it.
func withoutSecrets(text string) string { return secret.New().Text(text) }
