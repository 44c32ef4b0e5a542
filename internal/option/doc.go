// Package option declares the options of conversions, each in one row of a table:
//
//	{Flag: "min-size", To: &s.MinSize, Help: "skip images whose shorter side is below `N` pixels", Recorded: true},
//
// The row says which field a Go program sets and which flag does the same, and from it come the flag
// with its help and completion, the name in configuration files and their JSON schema, the option in the
// manifest with the comparison of an existing set, and what --from-manifest restores.
//
// A struct of options makes its table in a method, so that rows point to the fields of that struct, and
// conditions are plain expressions. The package knows neither the library nor the command line.
package option
