// Package build reports the version and the revision of tfrec.
package build

import "runtime/debug"

// Version is the released version. It is part of the manifest, so that two
// builds of one version write the same bytes whatever commit they come from.
const Version = "0.1.0"

// Tool is the name of the writer in manifests.
const Tool = "tfrec " + Version

// Revision returns the commit that the binary was built from, followed by "+dirty" if the tree had
// changes, or "" if the build does not record it.
func Revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var revision, dirty string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+dirty"
			}
		}
	}
	if len(revision) > 12 {
		revision = revision[:12]
	}
	return revision + dirty
}
