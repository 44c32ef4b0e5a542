package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/option"
)

// The annotations of flags that help reads; see option.Option.
const (
	inGroup  = "group"
	isCommon = "common"
	newSince = "since"
)

// place annotates the flag of an option with its place in the help.
func place(f *pflag.Flag, o *option.Option) {
	if o.Group != "" {
		annotate(f, inGroup, string(o.Group))
	}
	if o.Common {
		annotate(f, isCommon, "")
	}
	if o.Since != "" && o.Since != option.FirstVersion {
		annotate(f, newSince, o.Since)
	}
}

func annotate(f *pflag.Flag, key, value string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[key] = []string{value}
}

// Group puts flags into a group of the help. Flags without a group are those that make the verb what
// it is; help lists them first.
func Group(fs *pflag.FlagSet, g option.Group, names ...string) {
	for _, name := range names {
		annotate(fs.Lookup(name), inGroup, string(g))
	}
}

// Common marks flags of a group that the short help of the verb lists, too.
func Common(fs *pflag.FlagSet, names ...string) {
	for _, name := range names {
		annotate(fs.Lookup(name), isCommon, "")
	}
}

// shortHelp is the number of flags of a verb up to which its short help has all of them.
const shortHelp = 12

// FlagGroup is a part of the help: flags under a title.
type FlagGroup struct {
	Group option.Group // "" for flags without one
	Flags []*pflag.Flag
}

// FlagGroups returns the flags of a verb by group, in the order of the help, sorted by name within
// each. Flags of all verbs are not among them.
func FlagGroups(cmd *cobra.Command) []FlagGroup {
	groups := []FlagGroup{{}}
	for _, g := range option.Groups {
		groups = append(groups, FlagGroup{Group: g})
	}
	for _, f := range ownFlags(cmd) {
		g := option.Group("")
		if in := f.Annotations[inGroup]; in != nil {
			g = option.Group(in[0])
		}
		i := slices.IndexFunc(groups, func(p FlagGroup) bool { return p.Group == g })
		groups[i].Flags = append(groups[i].Flags, f)
	}
	return slices.DeleteFunc(groups, func(g FlagGroup) bool { return len(g.Flags) == 0 })
}

// ownFlags returns the flags of a verb that not every verb has.
func ownFlags(cmd *cobra.Command) (flags []*pflag.Flag) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && f.Name != "version" {
			flags = append(flags, f)
		}
	})
	return flags
}

// CommonFlags returns the flags in the short help of a verb: all, sorted by name, if there are few, and
// otherwise those without a group, and then those that are marked, in the order of their groups. It
// reports whether there are others.
func CommonFlags(cmd *cobra.Command) (flags []*pflag.Flag, more bool) {
	own := ownFlags(cmd)
	if len(own) <= shortHelp {
		return own, false
	}
	for _, g := range FlagGroups(cmd) {
		for _, f := range g.Flags {
			if g.Group == "" || f.Annotations[isCommon] != nil {
				flags = append(flags, f)
			}
		}
	}
	return flags, len(flags) < len(own)
}

// GlobalFlags returns the flags of all verbs, sorted by name.
func GlobalFlags(cmd *cobra.Command) (flags []*pflag.Flag) {
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Usage = "show this help, --help-all with all flags"
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.AddFlag(cmd.Flags().Lookup("help"))
	all.AddFlagSet(cmd.Root().PersistentFlags())
	if !cmd.HasParent() {
		cmd.InitDefaultVersionFlag()
		all.AddFlag(cmd.Flags().Lookup("version"))
	}
	all.VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
	return flags
}
