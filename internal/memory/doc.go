// Package memory says how much memory there is.
package memory
