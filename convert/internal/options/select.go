package options

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/optname"
)

// SelectSpec chooses the files of a source that become samples.
type SelectSpec struct {
	// Include selects paths that match one of these globs, Exclude drops those that match one. A
	// glob without a slash matches the file name, ** matches any directories.
	Include, Exclude []string
	// ByContent takes all files of a directory or archive that are images by their content, whatever
	// their extensions. Default: those with an image's extension.
	ByContent bool
	// FollowSymlinks follows symbolic links.
	FollowSymlinks bool
	// MinSize drops images whose shorter side is below it, in pixels.
	MinSize int
	// MaxAspect drops images whose longer side is more than this many times the shorter. 0 means no
	// limit.
	MaxAspect float64
}

// check returns an error for invalid fields.
func (s *SelectSpec) check() error {
	switch {
	case s.MinSize < 0:
		return plan.OptionErrorf(optname.SelectSpecMinSize, "%d is negative", s.MinSize)
	case s.MaxAspect != 0 && !(s.MaxAspect >= 1):
		return plan.OptionErrorf(optname.SelectSpecMaxAspect, "%g is below 1", s.MaxAspect)
	}
	for _, g := range s.Include {
		if !doublestar.ValidatePattern(g) {
			return plan.OptionErrorf(optname.SelectSpecInclude, "%q is not a valid glob", g)
		}
	}
	for _, g := range s.Exclude {
		if !doublestar.ValidatePattern(g) {
			return plan.OptionErrorf(optname.SelectSpecExclude, "%q is not a valid glob", g)
		}
	}
	return nil
}

// Wants reports whether the globs select a path.
func (s *SelectSpec) Wants(rel string) bool {
	return (len(s.Include) == 0 || AnyMatches(s.Include, rel)) && !AnyMatches(s.Exclude, rel)
}

// AnyMatches reports whether one of the globs, which SelectSpec.check has accepted, matches a path.
func AnyMatches(globs []string, rel string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		name := rel
		if !strings.Contains(glob, "/") {
			name = path.Base(rel)
		}
		ok, _ := doublestar.Match(glob, name)
		return ok
	})
}

// WantsNamed reports whether the globs select an annotated image, whose extension is not known.
func (s *SelectSpec) WantsNamed(name string) bool {
	bare := strings.TrimSuffix(name, path.Ext(name))
	return slices.ContainsFunc(append([]string{path.Ext(name)}, imagetree.Extensions...), func(ext string) bool {
		return s.Wants(bare + ext)
	})
}
