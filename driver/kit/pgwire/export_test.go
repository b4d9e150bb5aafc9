package pgwire

// Encryption returns the encryption in connection.TLS's words, and the password.
func (c *Config) Encryption() (tls, password string) {
	switch {
	case len(c.pg.Fallbacks) > 0 && (c.pg.Fallbacks[0].TLSConfig == nil) != (c.pg.TLSConfig == nil):
		tls = "undecided"
	case c.pg.TLSConfig == nil:
		tls = "off"
	case c.pg.TLSConfig.InsecureSkipVerify:
		tls = "insecure"
	default:
		tls = "on"
	}
	return tls, c.pg.Password
}

// Database is the name of the database.
func (c *Config) Database() string { return c.pg.Database }
