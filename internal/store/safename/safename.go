// Package safename makes names of files and directories from any bytes that are valid on every
// common system, and restores the original name of a directory.
//
//	safename.Of("a/b.jpg")             // a%2Fb.jpg
//	safename.OfDirectory(".NET")       // %2ENET: what begins with a dot is hidden
//	safename.Original("%2ENET")        // .NET
package safename

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/printable"
)

// maxName limits a name in bytes. File systems take 255 bytes or more; suffixes and insertions (~2,
// .png) must fit as well.
const maxName = 200

// Of makes any bytes the name of one file or directory that is valid on every common system. Other
// parts are escaped as in URLs, %XX a byte:
//
//   - control characters, separators (/ \), the characters that Windows does not allow (: * ? " < >
//     |), those that turn the direction of writing or end a line, and bytes that are not UTF-8,
//   - names of dots alone, and a dot or a space at the end, which Windows drops,
//   - the first letter of Windows' device names (nul.jpg becomes %6Eul.jpg),
//   - a % that would look like one of these. The empty name becomes %_.
//
// So different names stay different. A name of more than 200 bytes is cut, and has ~ and a 128-bit
// hash of the whole instead of the rest; its extension stays.
func Of(name string) string {
	if name == "" {
		return "%_"
	}
	var b strings.Builder
	onlyDots := strings.Trim(name, ".") == ""
	device := isDevice(name)
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		last := i+n == len(name)
		switch {
		case r == utf8.RuneError && n == 1, unsafeRune(r),
			device && i == 0,
			r == '.' && (onlyDots || last),
			r == ' ' && last,
			r == '%' && looksEscaped(name[i+1:]):
			escape(&b, name[i:i+n])
		default:
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	return shorten(b.String(), name)
}

// unsafeRune reports whether a character may be in no name.
func unsafeRune(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r)
	case r == '\u2028', r == '\u2029', r == '\ufeff':
		return true
	}
	return printable.IsControl(r)
}

func escape(b *strings.Builder, s string) {
	for i := range len(s) {
		fmt.Fprintf(b, "%%%02X", s[i])
	}
}

// looksEscaped reports whether what follows a % makes it look like an escape.
func looksEscaped(rest string) bool {
	if strings.HasPrefix(rest, "_") {
		return true
	}
	if len(rest) < 2 {
		return false
	}
	_, err := hex.DecodeString(rest[:2])
	return err == nil
}

// isDevice reports whether Windows takes the name for a device, whatever its
// extension. The superscript digits count as digits there.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	if port, ok := strings.CutPrefix(base, "COM"); ok {
		return isPort(port)
	}
	port, ok := strings.CutPrefix(base, "LPT")
	return ok && isPort(port)
}

func isPort(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n == len(s) && n > 0 && strings.ContainsRune("0123456789¹²³", r)
}

// shorten cuts a safe name to the limit, and adds a hash of the original name. Names that look as
// if they had been cut get a hash too, so that they differ from names that were cut.
func shorten(safe, name string) string {
	stem, ext := CutExtension(safe)
	if len(ext) > 16 {
		stem, ext = safe, ""
	}
	if len(safe) <= maxName && !looksCut(stem) {
		return safe
	}
	sum := xxh3.HashString128(name).Bytes()
	stem = stem[:min(len(stem), maxName-len(ext)-cutMark)]
	for !utf8.ValidString(stem) {
		stem = stem[:len(stem)-1]
	}
	return stem + "~" + hex.EncodeToString(sum[:]) + ext
}

// cutMark is the length of the hash with the ~ before it.
const cutMark = 1 + 2*16

func looksCut(stem string) bool {
	if len(stem) < cutMark || stem[len(stem)-cutMark] != '~' {
		return false
	}
	_, err := hex.DecodeString(stem[len(stem)-cutMark+1:])
	return err == nil
}

// CutExtension cuts a name before its last dot. A dot in front makes no extension.
func CutExtension(name string) (stem, ext string) {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[:i], name[i:]
	}
	return name, ""
}

// OfFile is Of for a file that is not to be hidden: a dot at the front is written as %2E.
func OfFile(name string) string { return visible(Of(name)) }

// visible changes a safe name that imagetree takes for hidden. No other name becomes the same, as
// Of keeps no % that looks like an escape.
func visible(safe string) string {
	if !imagetree.Hidden(safe) {
		return safe
	}
	var b strings.Builder
	escape(&b, safe[:1])
	return b.String() + safe[1:]
}

// extensions are those that the files in a directory may get.
var extensions = []string{".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".bin"}

// OfDirectory is OfFile for a directory, whose extension is none that a file may get: so no file is
// where a directory must be.
func OfDirectory(name string) string {
	safe := OfFile(name)
	if stem, ext := CutExtension(safe); slices.Contains(extensions, strings.ToLower(ext)) {
		return stem + "%2E" + ext[1:]
	}
	return safe
}

// Original returns the name from which OfDirectory made another one. It returns false if the name
// is unchanged, or was not made by OfDirectory.
func Original(directory string) (name string, ok bool) {
	if directory == "%_" {
		return "", true
	}
	var b strings.Builder
	for i := 0; i < len(directory); i++ {
		if directory[i] == '%' && len(directory) > i+2 {
			if c, err := hex.DecodeString(directory[i+1 : i+3]); err == nil {
				b.Write(c)
				i += 2
				continue
			}
		}
		b.WriteByte(directory[i])
	}
	name = b.String()
	return name, name != directory && OfDirectory(name) == directory
}
