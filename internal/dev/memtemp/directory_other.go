//go:build !linux

package memtemp

func directory() string { return "" }
