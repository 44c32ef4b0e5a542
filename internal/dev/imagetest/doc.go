// Package imagetest has images for the tests of the packages that work on pixels: pictures of
// testdata, goldens, made-up images and planes, and how far two of them are apart.
//
//	src := imagetest.Noise(40, 30, 3)
//	data := imagetest.Picture(t, "made-ok-160x88.jpg")
package imagetest
