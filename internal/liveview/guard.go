package liveview

import (
	"context"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// guard refuses what other pages than ours ask for, lets ours load nothing from elsewhere and
// nobody frame it, and paces all requests.
func (s *Server) guard(next http.Handler) http.Handler {
	names := s.names()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
			"img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if !wait(r.Context(), s.requests, 1) {
			http.Error(w, "too many look at this page at once", http.StatusServiceUnavailable)
			return
		}
		if !s.known(r.Host, names) {
			http.Error(w, "this page is not served under that name: open it at the address that the program prints", http.StatusForbidden)
			return
		}
		if foreign(r) {
			http.Error(w, "this is for the page of this server only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreign reports whether a page of another origin makes the request. Browsers say so: always with
// Origin where they would let that page read the answer, and with Sec-Fetch-Site where they trust
// the connection. A link to this page is followed, whoever has it.
func foreign(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return true
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return r.URL.Path != "/" || r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
}

// known reports whether the page is served under the host of a request. A page on the internet
// whose name was made to resolve to this machine is of the same origin for a browser; but it has
// that name. So names must be ours, while addresses cannot be made to mean another machine.
func (s *Server) known(hostport string, names map[string]bool) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	ip := net.ParseIP(strings.Trim(host, "[]"))
	tcp, ok := s.listener.Addr().(*net.TCPAddr)
	if loopback := ok && tcp.IP.IsLoopback(); ip != nil {
		return !loopback || ip.IsLoopback()
	}
	return names[host]
}

// names returns the names the page is served under.
func (s *Server) names() map[string]bool {
	names := map[string]bool{"localhost": true}
	if net.ParseIP(s.host) == nil {
		names[strings.ToLower(s.host)] = true
	}
	if tcp, ok := s.listener.Addr().(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		return names
	}
	name := hostname()
	if name == "" {
		return names
	}
	names[strings.ToLower(name)] = true
	names[strings.ToLower(name)+".local"] = true
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if full, err := net.DefaultResolver.LookupCNAME(ctx, name); err == nil { // with its domain
		names[strings.ToLower(strings.TrimSuffix(full, "."))] = true
	}
	return names
}

// hostname returns the name of this machine, "" if it has none.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}
