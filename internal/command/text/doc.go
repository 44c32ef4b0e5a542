// Package text prints statistics, comparisons and reports of faults for people.
package text
