// Package spec describes exports: the formats, what a caller asks for, and what a run reports. It has
// no code that reads or writes.
//
//	o := spec.Options{Format: spec.CSV, Safe: true}
//
// Options flow down from the command to the rooms of package export, and a Report flows up. A format
// never has options that another package knows and this one does not.
package spec
