package origin

import (
	"bytes"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/plan"
)

// Version is the version of an image in a store, in an archive or on disk. A million ETags as text
// would take 50 MB, so versions in the usual forms are kept in binary.
type Version struct {
	Form   *versionForm // nil: without a version
	digits [16]byte     // of the form, two in a byte
}

// versionForm is the form of versions that differ in hexadecimal digits.
type versionForm struct {
	before string
	digits int  // 0: the version is before
	ten    byte // the digit after 9
	after  string
}

// versionForms are the usual forms of versions: MD5s and other ETags in quotes and decimal
// generations, as in S3, Azure and Google stores, and versions of files and archives on disk.
var versionForms = [...]versionForm{
	{`"`, 32, 'a', `"`},
	{`"0x`, 15, 'A', `"`},
	{``, 16, 'a', ``},
	{OnDisk, 32, 'a', ``},
	{archiveOnDisk, 2 * archiveDigits, 'a', ``},
}

// OnDisk is before the version of a file on disk, which is a storage.Change.
const OnDisk = "disk "

// ChangeVersion is the version of a file on disk; "" if there is none.
func ChangeVersion(change string) string {
	if change == "" {
		return ""
	}
	return OnDisk + change
}

// archiveOnDisk is before the version of an archive on disk: archiveDigits of a hash of its path, size
// and time, and as many of a hash of its storage.Change.
const (
	archiveOnDisk = "archive "
	archiveDigits = 16
)

// archiveVersion is the version of an archive on disk. The identity is a fingerprint.
func archiveVersion(identity, change string) string {
	f := plan.NewFingerprint()
	f.Add(change)
	return archiveOnDisk + identity[:archiveDigits] + f.String()[:archiveDigits]
}

// IsButForChange reports whether the version is this text, or the version of an archive on disk
// that differs in its storage.Change only.
func (v *Version) IsButForChange(text []byte) bool {
	if v.Is(text) {
		return true
	}
	const end = len(archiveOnDisk) + archiveDigits
	is := v.Text()
	return strings.HasPrefix(is, archiveOnDisk) && len(text) == len(is) && string(text[:end]) == is[:end]
}

// VersionAs returns the version of an image. Text in none of the usual forms is kept, and shared
// with the version of the previous image if both are equal.
func VersionAs(text []byte, last Version) Version {
	for i := range versionForms {
		if v, ok := versionForms[i].parse(text); ok {
			return v
		}
	}
	switch {
	case len(text) == 0:
		return Version{}
	case last.Is(text):
		return last
	}
	return Version{Form: &versionForm{before: string(text)}}
}

// parse returns a version of the form, and whether text is one.
func (f *versionForm) parse(text []byte) (v Version, ok bool) {
	from, to := len(f.before), len(f.before)+f.digits
	if len(text) != to+len(f.after) || string(text[:from]) != f.before || string(text[to:]) != f.after {
		return Version{}, false
	}
	v.Form = f
	for i, c := range text[from:to] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case f.ten <= c && c < f.ten+6:
			c -= f.ten - 10
		default:
			return Version{}, false
		}
		v.digits[i/2] |= c << (4 * (1 - i%2))
	}
	return v, true
}

// append appends the text of the version to dst.
func (v *Version) append(dst []byte) []byte {
	if v.Form == nil {
		return dst
	}
	dst = append(dst, v.Form.before...)
	for i := range v.Form.digits {
		c := v.digits[i/2] >> (4 * (1 - i%2)) & 15
		if c < 10 {
			c += '0'
		} else {
			c += v.Form.ten - 10
		}
		dst = append(dst, c)
	}
	return append(dst, v.Form.after...)
}

// Text returns the version as the store has it; empty without.
func (v *Version) Text() string {
	if v.Form != nil && v.Form.digits == 0 {
		return v.Form.before
	}
	return string(v.append(make([]byte, 0, longestForm)))
}

// Is reports whether the version is this text.
func (v *Version) Is(text []byte) bool {
	if v.Form != nil && v.Form.digits == 0 {
		return v.Form.before == string(text)
	}
	var is [longestForm]byte
	return bytes.Equal(v.append(is[:0]), text)
}

// longestForm is the length of the longest version of the usual forms.
const longestForm = 40
