// Package region computes the pixels of annotated regions: polygons and run-length encodings, as
// COCO has them and bit-equal to pycocotools.
//
//	mask := make([]uint8, w*h)
//	err := region.Fill(mask, w, h, object.Region) // 1 in the region, 0 outside
//	box := region.Bounds(mask, w, h)
//	runs := region.Runs(mask, w, h)
//	text := region.AppendCompressed(nil, runs) // "counts" of COCO
//	png := region.AppendPNG(nil, mask, w, h)
//
// A mask has w*h bytes, row after row, with 0 outside and any other value inside. Runs go down the
// columns: the lengths of runs of pixels outside and inside in turns, of which only the first may
// be 0, and which together are w*h.
package region
