// Package sniff recognises the formats of images by their first bytes, and phrases what is wrong
// with an image so that all decoders use the same words and the same sentinels.
//
//	format := sniff.Sniff(data)
//	return sniff.Damaged(format, "the header is cut short")
//
// It never looks at the name of a file, and decodes nothing.
package sniff
