// Package lower writes tasks as programs of package raster, for processors that know nothing of
// policies and filters.
//
//	Task ─► views, tables, operations in stages ─► raster.Program
//
// Executing the program gives the bytes that package render gives. Flips, crops and quarter turns
// are views and cost nothing. A task that has no such program is a [NotLoweredError], never an
// approximation. Read lower.go, then writer.go for the program and step.go for steps.
package lower
