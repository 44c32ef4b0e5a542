// Package bmp decodes BMP files, including run lengths and 16 bits a pixel, which
// golang.org/x/image/bmp does not read.
//
//	h, err := bmp.Stat(data)
//	…
//	err = h.Decode(&im, data, 3, false, nil)
//
// Positions in the header are checked by Stat, so that Decode never reads beyond the file.
package bmp
