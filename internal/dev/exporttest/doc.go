// Package exporttest has what the tests of exports share: sets of records, and what is in a directory
// and in a tar.
package exporttest
