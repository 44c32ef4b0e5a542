// Package spec has the formats, the options and the report of exports. It reads and writes nothing.
//
//	o := spec.Options{Format: spec.CSV, Safe: true}
//
// Options flow down from the command to the rooms of package export, and a Report flows up. A
// format never has options that another package knows and this one does not.
package spec
