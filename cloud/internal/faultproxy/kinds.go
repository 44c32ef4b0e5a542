package faultproxy

import (
	"net/http"
	"slices"
	"strings"
)

// Kind is a kind of fault.
type Kind string

const (
	Busy     Kind = "503"      // is answered with 503
	TooMany  Kind = "429"      // is answered with 429
	Broken   Kind = "500"      // is answered with 500
	Drop     Kind = "drop"     // the connection breaks before the server sees the request
	Lose     Kind = "lose"     // the server carries it out, and the connection breaks before the answer
	Hang     Kind = "hang"     // is never answered
	Page     Kind = "html"     // is answered with status 200 and a page of HTML, as by a captive portal
	Cut      Kind = "cut"      // the connection breaks in the middle of the answer's body
	Stall    Kind = "stall"    // nothing comes any more from the middle of the answer's body on
	Trickle  Kind = "trickle"  // the answer's body comes a byte at a time, with Interval between them
	Flip     Kind = "flip"     // one bit of the answer's body is another, for objects
	Thin     Kind = "thin"     // entries are missing from the answer, but counted, for lists of S3
	Stale    Kind = "stale"    // the answer to the same request before, for lists
	FlipSent Kind = "flipsent" // one bit of the request's body is another
	Double   Kind = "double"   // is sent twice if it changes something; the second answer counts
	Slow     Kind = "slow"     // is answered after 50 ms
)

// Kinds are all kinds of faults, in the order in which a number is drawn for them.
var Kinds = []Kind{Busy, TooMany, Broken, Drop, Lose, Hang, Page, Cut, Stall, Trickle, Flip, Thin, Stale, FlipSent, Double, Slow}

// Shares are the shares of the requests, from 0 to 1, that have a fault of a kind. Only requests to
// which a kind applies count. A request has at most one fault: the sum should not exceed 1.
type Shares map[Kind]float64

// Evenly returns shares for kinds whose sum is total.
func Evenly(total float64, kinds ...Kind) Shares {
	s := Shares{}
	for _, k := range kinds {
		s[k] = total / float64(len(kinds))
	}
	return s
}

// applies reports whether a fault may happen to a request.
func (k Kind) applies(r *http.Request) bool {
	switch op := Operation(r); k {
	case Cut, Stall, Trickle:
		return r.Method == http.MethodGet
	case Flip:
		return op == "get"
	case Thin:
		return r.URL.Query().Has("list-type")
	case Stale:
		return op == "list"
	case FlipSent:
		return (op == "put" || op == "part") && r.ContentLength > 0
	case Double:
		return !slices.Contains([]string{http.MethodGet, http.MethodHead}, r.Method)
	}
	return true
}

// Operation returns the kind of a request: "list", "head", "get", "put", "delete", and of uploads
// in parts "begin", "part", "finish", "abort" and "uploads" (S3; of other stores by their methods).
func Operation(r *http.Request) string {
	query := r.URL.Query()
	switch {
	case r.Method == http.MethodGet && query.Has("uploads"):
		return "uploads"
	case r.Method == http.MethodGet && (query.Has("list-type") || query.Get("comp") == "list" || strings.HasSuffix(r.URL.Path, "/o")):
		return "list"
	case query.Has("uploadId"):
		return map[string]string{http.MethodPut: "part", http.MethodPost: "finish", http.MethodDelete: "abort"}[r.Method]
	case r.Method == http.MethodPost:
		return "begin"
	}
	return strings.ToLower(r.Method)
}
