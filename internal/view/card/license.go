package card

import "strings"

// licenses are the licenses that Hugging Face lists by an identifier, in the spelling of SPDX. The
// identifier there is the lower-case form.
var licenses = []string{
	"AFL-3.0", "AGPL-3.0", "Apache-2.0", "Artistic-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD-3-Clause-Clear",
	"BSL-1.0", "CC-BY-2.0", "CC-BY-2.5", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-NC-2.0", "CC-BY-NC-3.0",
	"CC-BY-NC-4.0", "CC-BY-NC-ND-3.0", "CC-BY-NC-ND-4.0", "CC-BY-NC-SA-2.0", "CC-BY-NC-SA-3.0",
	"CC-BY-NC-SA-4.0", "CC-BY-ND-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC0-1.0", "CDLA-Permissive-1.0",
	"CDLA-Permissive-2.0", "CDLA-Sharing-1.0", "ECL-2.0", "EPL-1.0", "EPL-2.0", "EUPL-1.1", "EUPL-1.2",
	"GFDL", "GPL-2.0", "GPL-3.0", "ISC", "LGPL-2.1", "LGPL-3.0", "LPPL-1.3c", "MIT", "MPL-2.0", "MS-PL",
	"MulanPSL-2.0", "NCSA", "ODbL", "ODC-By", "OFL-1.1", "OSL-3.0", "PDDL", "PostgreSQL", "Unlicense",
	"WTFPL", "Zlib",
}

// spdxPages are the identifiers of pages at spdx.org, where they differ from the names above.
var spdxPages = map[string]string{
	"AGPL-3.0": "AGPL-3.0-only", "GFDL": "GFDL-1.3-only", "GPL-2.0": "GPL-2.0-only", "GPL-3.0": "GPL-3.0-only",
	"LGPL-2.1": "LGPL-2.1-only", "LGPL-3.0": "LGPL-3.0-only", "ODbL": "ODbL-1.0", "ODC-By": "ODC-By-1.0", "PDDL": "PDDL-1.0",
}

// knownLicense returns the name of a license in the list above, in any case.
func knownLicense(s string) (string, bool) {
	if s == "" {
		return "", false // not the missing page of a license
	}
	for _, name := range licenses {
		if strings.EqualFold(s, name) || strings.EqualFold(s, spdxPages[name]) {
			return name, true
		}
	}
	return "", false
}

// licensePage returns the URL of a license as Croissant wants it, or the license as it was stated.
func licensePage(s string) string {
	name, ok := knownLicense(s)
	if !ok {
		return s
	}
	if page := spdxPages[name]; page != "" {
		name = page
	}
	return "https://spdx.org/licenses/" + name + ".html"
}
