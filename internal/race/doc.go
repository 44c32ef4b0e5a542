// Package race tells tests whether they run under the race detector, which changes what programs
// allocate and how much CPU they take: tests that measure either compare nothing then.
package race
