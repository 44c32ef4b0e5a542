package labels

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxID is the largest id of a label that has a name. Sets with larger ids have no vocabulary.
const MaxID = 1_000_000

// Integer returns the integer that a label is, and its digits as they are written: decimal digits
// with or without a sign. A plus sign and zeros after a decimal point do not count: 3.0, as pandas
// writes the integers of a column with missing values, is 3.
func Integer(label string) (digits string, n int64, ok bool) {
	digits = strings.TrimPrefix(label, "+")
	if whole, zeros, point := strings.Cut(digits, "."); point && strings.Trim(zeros, "0") == "" {
		digits = whole
	}
	unsigned := strings.TrimPrefix(digits, "-")
	if unsigned == "" || strings.Trim(unsigned, "0123456789") != "" || digits[0] == '-' && label[0] == '+' {
		return "", 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if n == 0 {
		digits = unsigned // -0
	}
	return digits, n, err == nil
}

// IDs returns the ids that labels state: the integers that they are, with their digits. It reports
// false unless all of them are integers of 64 bits, and none is written in two ways, such as 7 and
// 007.
func IDs(labels []string) (ids []int64, digits []string, ok bool) {
	written := make(map[int64]string, len(labels))
	for _, label := range labels {
		d, n, ok := Integer(label)
		if !ok {
			return nil, nil, false
		}
		if other, known := written[n]; known && other != d {
			return nil, nil, false
		}
		written[n] = d
		ids, digits = append(ids, n), append(digits, d)
	}
	return ids, digits, len(labels) > 0
}

// HaveNames reports whether there can be a name for each id: none is negative or above MaxID.
func HaveNames(ids []int64) bool {
	for _, id := range ids {
		if id < 0 || id > MaxID {
			return false
		}
	}
	return true
}

// Fill returns a list of names by id that has the given ones. An id without a name has its number
// as its name, with as many digits as all names if these are numbers with leading zeros, and with a
// # before it if that is the name of another.
func Fill(named map[int64]string) []string {
	last, width, taken := int64(-1), 0, make(map[string]bool, len(named))
	padded := false
	for id, name := range named {
		last = max(last, id)
		taken[name] = true
		padded = padded || len(name) > 1 && name[0] == '0'
		if width == 0 {
			width = len(name)
		}
		if len(name) != width || strings.Trim(name, "0123456789") != "" {
			width = -1
		}
	}
	if !padded {
		width = -1
	}
	names := make([]string, last+1)
	for id := range names {
		name, ok := named[int64(id)]
		if !ok {
			for name = fmt.Sprintf("%0*d", max(width, 0), id); taken[name]; name = "#" + name {
			}
		}
		names[id] = name
	}
	return names
}
