// Package swar has what compares eight bytes in one word.
package swar

const (
	// Ones times a byte repeats it in all eight.
	Ones = 0x0101010101010101
	// Highs is the top bit of each byte.
	Highs = 0x8080808080808080
	// Lows is all other bits.
	Lows = 0x7f7f7f7f7f7f7f7f
)
