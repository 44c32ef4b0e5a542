// Package faultproxy is a proxy for tests that does to requests what networks, proxies and
// overloaded servers do to those for objects of a store: it refuses, drops, doubles and delays
// them, and gives answers that are cut, stale, incomplete, changed or of somebody else.
//
//	p := &faultproxy.Proxy{Backend: server, Seed: 1, Shares: faultproxy.Shares{faultproxy.Flip: 0.1, faultproxy.Drop: 0.05}}
//	address := httptest.NewServer(p).URL
//	...
//	p.Count(faultproxy.Flip) // how many answers had a bit flipped
//
// What happens to a request depends on the seed, the request (method, path, query without what
// signatures add, and range) and how often it was made before, and on nothing else: the order in
// which concurrent requests arrive does not matter.
package faultproxy
