// Package peers compares the speed of tfrec with other tools: peers.py runs them in turn, in one
// run on the same data, and prints ratios. `make bench-peers` calls it; nothing imports this
// package. Peers in Go are in directories of their own.
package peers
