// Package faultproxy is a proxy for tests that subjects requests for objects of a store to the
// faults of networks, proxies and overloaded servers: it rejects, drops, doubles and delays them,
// and gives answers that are cut, stale, incomplete, changed or from another source.
//
//	p := &faultproxy.Proxy{Backend: server, Seed: 1, Shares: faultproxy.Shares{faultproxy.Flip: 0.1, faultproxy.Drop: 0.05}}
//	address := httptest.NewServer(p).URL
//	...
//	p.Count(faultproxy.Flip) // how many answers had a bit flipped
//
// The fault of a request depends only on the seed, the request (method, path, query without what
// signatures add, and range) and the number of times it was made before: the order in which
// concurrent requests arrive does not matter.
package faultproxy
