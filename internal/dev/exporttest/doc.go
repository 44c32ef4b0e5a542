// Package exporttest has the helpers that the tests of exports share. They write sets of records,
// and list directories and tars.
package exporttest
