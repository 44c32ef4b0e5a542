package export

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/printable"
)

// Limits of names. File systems take 255 bytes or more a name; what is put after or into one (~2,
// .png) must fit as well.
const (
	maxName        = 200  // bytes of a name
	maxPath        = 1000 // bytes of a path below OUT
	maxDirectories = 32   // names in a path
)

// SafeName makes any bytes the name of one file or directory that every common
// system takes as it is. What cannot stay is written as in URLs, %XX a byte:
//
//   - control characters, separators (/ \), the characters that Windows refuses
//     (: * ? " < > |), those that turn the direction of writing or end a line,
//     and bytes that are no UTF-8,
//   - names of dots alone, and a dot or a space at the end, which Windows drops,
//   - the first letter of Windows' device names (nul.jpg becomes %6Eul.jpg),
//   - a % that would look like one of these. The empty name becomes %_.
//
// So different names stay different. A name of more than 200 bytes is cut, and has ~ and a 128-bit
// hash of the whole instead of the rest; its extension stays.
func SafeName(name string) string {
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

// shorten cuts a safe name to the limit, with a hash of what it was made of.
// Names that look as if they had been cut are, too, so that they are different
// from those that were.
func shorten(safe, name string) string {
	stem, ext := cutExtension(safe)
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

// cutMark is how long the hash is with the ~ in front.
const cutMark = 1 + 2*16

func looksCut(stem string) bool {
	if len(stem) < cutMark || stem[len(stem)-cutMark] != '~' {
		return false
	}
	_, err := hex.DecodeString(stem[len(stem)-cutMark+1:])
	return err == nil
}

// cutExtension cuts a name before its last dot. A dot in front makes no
// extension.
func cutExtension(name string) (stem, ext string) {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[:i], name[i:]
	}
	return name, ""
}

// numbered puts ~n into a name, before its extension.
func numbered(name string, n int) string {
	stem, ext := cutExtension(name)
	return fmt.Sprintf("%s~%d%s", stem, n, ext)
}

// folded is the name that all names share which are the same where case does
// not count.
func folded(name string) string { return strings.ToLower(strings.ToUpper(name)) }
