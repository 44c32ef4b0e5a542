// Package sniff recognises the formats of images by their first bytes. It also makes the errors about
// images, so that all decoders use the same words and wrap the same sentinels.
//
//	format := sniff.Sniff(data)
//	return sniff.Damaged(format, "the header is cut short")
//
// It never looks at the name of a file, and decodes nothing.
package sniff
