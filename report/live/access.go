package live

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/tsmark/tsmark/internal/listen"
	"github.com/tsmark/tsmark/report/live/page"
)

// access decides which requests may read. Its inputs are never logged or shown.
type access struct {
	host     string            // that the address was given as
	loopback bool              // the address can be reached from this machine alone
	token    [sha256.Size]byte // of the token, so that comparing does not reveal its length
	needed   bool              // of a token
	cookie   string            // its name: cookies of a host are the same for all ports
	session  string            // value of the cookie for browsers that sent the token once
	tls      bool              // browsers are to send it over TLS alone
}

func newAccess(a listen.Address, o *Options, port string) *access {
	return &access{
		host: a.Host, loopback: a.Loopback(), token: sha256.Sum256([]byte(o.Token)), needed: o.Token != "",
		cookie: "tsmark_live_" + port, session: rand.Text(), tls: o.Certificate != nil,
	}
}

// guard passes only permitted requests to a handler.
func (a *access) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		switch {
		case !a.knows(r.Host):
			// A page elsewhere whose name was made to lead here must not read this one.
			http.Error(w, "tsmark: this name is not one of the live page's; use its address", http.StatusMisdirectedRequest)
		case r.Method == http.MethodPost && r.URL.Path == "/login" && a.needed:
			a.login(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "tsmark: only GET", http.StatusMethodNotAllowed)
		case a.needed && r.URL.Query().Has("token"): // which is not to stay in the address
			a.enter(w, r, r.URL.Query().Get("token"))
		case a.needed && !a.admitted(r):
			a.refuse(w, r, false)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// knows reports whether a request's host is this one, by its address or by the name that
// was given for it.
func (a *access) knows(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(name), "["), "]")
	if ip, err := netip.ParseAddr(name); err == nil {
		return !a.loopback || ip.IsLoopback()
	}
	return name != "" && (name == "localhost" || name == strings.ToLower(a.host))
}

// admitted reports whether a request has the token, or the cookie that was set for it.
func (a *access) admitted(r *http.Request) bool {
	if kind, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(kind, "Bearer") && a.isValid(strings.TrimSpace(token)) {
		return true
	}
	c, err := r.Cookie(a.cookie)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(a.session)) == 1
}

// isValid compares a token in constant time.
func (a *access) isValid(token string) bool {
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], a.token[:]) == 1
}

// mostForm is the maximum size of a form in bytes.
const mostForm = 4 << 10

func (a *access) login(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience))
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	a.enter(w, r, r.PostFormValue("token"))
}

// enter sets a cookie if the token is correct, and sends the browser to the page without
// the token.
func (a *access) enter(w http.ResponseWriter, r *http.Request, token string) {
	if !a.isValid(strings.TrimSpace(token)) {
		a.refuse(w, r, true)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: a.cookie, Value: a.session, Path: "/", HttpOnly: true, Secure: a.tls, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (a *access) refuse(w http.ResponseWriter, r *http.Request, wrong bool) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="tsmark"`)
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Error(w, "tsmark: this needs the token that tsmark was given, as in: Authorization: Bearer TOKEN", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusUnauthorized)
	_ = page.WriteLogin(w, wrong) // an error means that the reader has left
}
