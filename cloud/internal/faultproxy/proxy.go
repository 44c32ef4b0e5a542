package faultproxy

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Proxy is a handler in front of a server. The exported fields must not change while it is used.
type Proxy struct {
	// Backend is the server.
	Backend http.Handler
	// Seed seeds the choice of faults.
	Seed uint64
	// Shares are the shares of requests with each kind of fault. Default: none.
	Shares Shares
	// Only reports whether a request may have a fault of a kind. Default: each may.
	Only func(Kind, *http.Request) bool
	// Break is called with each request, before the server sees it (and its body is read) and after
	// the server has carried it out, and reports whether the connection breaks. Default: it does not.
	Break func(r *http.Request, after bool) bool
	// Interval is the time between the bytes of a trickle. Default: 1 s.
	Interval time.Duration

	mu       sync.Mutex
	requests int
	times    map[string]int       // that a request was made, by key
	lists    map[string]*recorded // the last answers to requests for lists, by key
	faults   map[Kind]map[string]int
}

type recorded = httptest.ResponseRecorder

// Requests returns how many requests came.
func (p *Proxy) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

// Count returns how many faults there were of a kind, or if kind is empty of all kinds, for requests
// of the named operations, or if there are none of all.
func (p *Proxy) Count(kind Kind, operations ...string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	sum := 0
	for k, counts := range p.faults {
		for operation, n := range counts {
			if (kind == "" || k == kind) && (len(operations) == 0 || slices.Contains(operations, operation)) {
				sum += n
			}
		}
	}
	return sum
}

// String lists how many faults there were of each kind.
func (p *Proxy) String() string {
	var parts []string
	for _, k := range Kinds {
		if n := p.Count(k); n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", k, n))
		}
	}
	return fmt.Sprintf("seed %d, %d requests: %s", p.Seed, p.Requests(), strings.Join(parts, ", "))
}

func (p *Proxy) count(k Kind, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.faults == nil {
		p.faults = map[Kind]map[string]int{}
	}
	if p.faults[k] == nil {
		p.faults[k] = map[string]int{}
	}
	p.faults[k][Operation(r)]++
}

// keyOf returns a key that is equal for equivalent requests.
func keyOf(r *http.Request) string {
	query := url.Values{}
	for name, values := range r.URL.Query() {
		if !strings.HasPrefix(strings.ToLower(name), "x-amz-") {
			query[name] = values
		}
	}
	return r.Method + " " + r.URL.Path + "?" + query.Encode() + " " + r.Header.Get("Range")
}

// draw returns the fault of a request, or none, and random numbers for what else there is to draw.
func (p *Proxy) draw(r *http.Request, key string) (Kind, *rand.Rand) {
	p.mu.Lock()
	if p.times == nil {
		p.times, p.lists = map[string]int{}, map[string]*recorded{}
	}
	p.requests++
	p.times[key]++
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", key, p.times[key])
	p.mu.Unlock()
	random := rand.New(rand.NewPCG(p.Seed, h.Sum64()))
	at := random.Float64()
	for _, k := range Kinds {
		if p.Shares[k] == 0 || !k.applies(r) {
			continue
		}
		if at -= p.Shares[k]; at < 0 {
			if p.Only != nil && !p.Only(k, r) {
				break
			}
			return k, random
		}
	}
	return "", random
}

func abort() { panic(http.ErrAbortHandler) }

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := keyOf(r)
	kind, random := p.draw(r, key)
	if p.Break != nil && p.Break(r, false) {
		abort()
	}
	switch kind {
	case Busy, TooMany, Broken, Drop, Hang, Page, Slow:
		p.count(kind, r)
	}
	switch kind {
	case Busy:
		refuse(w, http.StatusServiceUnavailable, "SlowDown")
		return
	case TooMany:
		refuse(w, http.StatusTooManyRequests, "TooManyRequests")
		return
	case Broken:
		refuse(w, http.StatusInternalServerError, "InternalError")
		return
	case Page:
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!DOCTYPE html>\n<html><body>Please log in</body></html>")
		return
	case Drop:
		abort()
	case Slow:
		time.Sleep(50 * time.Millisecond)
	}
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		abort()
	}
	switch {
	case kind == Hang: // after the body, so that the context ends with the connection
		<-r.Context().Done()
		abort()
	case kind == FlipSent && len(sent) > 0:
		p.count(kind, r)
		flip(sent, random)
	case kind == Double:
		p.count(kind, r)
		p.ask(r, sent)
	}
	answer := p.ask(r, sent)
	if p.Break != nil && p.Break(r, true) {
		abort()
	}
	if kind == Lose {
		p.count(kind, r)
		abort()
	}
	if Operation(r) == "list" && answer.Code == http.StatusOK {
		p.mu.Lock()
		before := p.lists[key]
		p.lists[key] = answer
		p.mu.Unlock()
		if kind == Stale && before != nil && !bytes.Equal(before.Body.Bytes(), answer.Body.Bytes()) {
			p.count(kind, r)
			answer = before
		}
	}
	p.reply(w, r, answer, kind, random)
}

// ask has the server carry out a request, and returns its answer.
func (p *Proxy) ask(r *http.Request, sent []byte) *recorded {
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(sent))
	again.ContentLength = int64(len(sent))
	again.Header.Del("Expect") // all of the body is here, and a recorder takes 100 Continue for the answer
	answer := httptest.NewRecorder()
	p.Backend.ServeHTTP(answer, again)
	return answer
}

// reply gives the server's answer, with what may happen to it on the way.
func (p *Proxy) reply(w http.ResponseWriter, r *http.Request, answer *recorded, kind Kind, random *rand.Rand) {
	body := bytes.Clone(answer.Body.Bytes())
	if len(body) == 0 || answer.Code/100 != 2 {
		kind = "" // there is nothing to damage
	}
	switch kind {
	case Flip:
		p.count(kind, r)
		flip(body, random)
	case Thin:
		if thin := thinned(body, random); len(thin) < len(body) {
			p.count(kind, r)
			body = thin
		}
	}
	maps.Copy(w.Header(), answer.Header())
	if r.Method != http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(answer.Code)
	switch kind {
	case Cut, Stall:
		p.count(kind, r)
		w.Write(body[:random.IntN(len(body))])
		w.(http.Flusher).Flush()
		if kind == Stall {
			<-r.Context().Done()
		}
		abort()
	case Trickle:
		p.count(kind, r)
		interval := p.Interval
		if interval == 0 {
			interval = time.Second
		}
		for i := range body {
			if _, err := w.Write(body[i : i+1]); err != nil {
				abort()
			}
			w.(http.Flusher).Flush()
			select {
			case <-time.After(interval):
			case <-r.Context().Done():
				abort()
			}
		}
		return
	}
	w.Write(body)
}

// refuse answers with an error in S3's format. Other clients go by its status.
func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code><Message>a fault</Message></Error>", code)
}

func flip(data []byte, random *rand.Rand) { data[random.IntN(len(data))] ^= 1 << random.IntN(8) }

// thinned returns a list of S3 without about half of its entries, at least one of which is missing.
func thinned(list []byte, random *rand.Rand) []byte {
	const begin, end = "<Contents>", "</Contents>"
	entries := bytes.Count(list, []byte(begin))
	if entries == 0 {
		return list
	}
	missing := random.IntN(entries)
	var thin []byte
	for n := 0; ; n++ {
		before, rest, found := bytes.Cut(list, []byte(begin))
		thin = append(thin, before...)
		if !found {
			return thin
		}
		entry, after, _ := bytes.Cut(rest, []byte(end))
		if n != missing && random.IntN(2) == 0 {
			thin = append(append(append(thin, begin...), entry...), end...)
		}
		list = after
	}
}
