// Package option declares the options of conversions, each in one row of a table:
//
//	{Flag: "min-size", To: &s.MinSize, Help: "skip images whose shorter side is below `N` pixels", Recorded: true},
//
// A row connects the field that Go programs set with the flag of the command. It is the source of
//
//   - the flag, its help, the group of the help that lists it, and its completion;
//   - the checks of flags that need or exclude others;
//   - the name in configuration files, and their JSON schema;
//   - the option in the manifest, and the comparison with an existing set;
//   - the flags that --from-manifest restores;
//   - the name of the field in messages of the command.
//
// A struct of options returns its table from a method, so that rows point to the fields of that struct,
// and conditions are plain expressions. The package depends neither on the library nor on a package of
// flags.
package option
