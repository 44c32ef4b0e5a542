// Package boxes exports images with the objects on them: as COCO, VOC or YOLO, a file each.
//
//	err := boxes.Write(ctx, in, files, &o)
//
// Records flow through twice. The first pass finds classes and keypoints ([objectScan]); in the
// second, each image gets its file, and an [annotator] gets it as annotated: its objects on the
// image as shown. A format knows only the scan and annotated images.
//
// What a format cannot hold is never dropped without a note, and a class never changes its id.
package boxes
