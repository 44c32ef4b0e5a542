package table

import "strings"

// Within reports whether a path with slashes is another one, or below it. A column belongs to an
// object or struct in the same way.
func Within(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '/')
}
