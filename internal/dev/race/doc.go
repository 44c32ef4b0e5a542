// Package race reports whether tests run under the race detector, which changes allocations and CPU
// time: tests that measure either compare nothing then.
package race
