//go:build !linux

package memtemp

func folder() string { return "" }
