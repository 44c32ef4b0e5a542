// Package tiff decodes the first page of TIFF files (TIFF 6.0), and reads the directories of EXIF,
// which are those of TIFF.
//
//	directory ─► pixel format and layout ─► blocks ─► rows ─► image
//
// Blocks, strips or tiles, are decoded row by row. Offsets and sizes in a file are checked before
// any block is read: blocks must not share their data, and padding is bounded.
package tiff
