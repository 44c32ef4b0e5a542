// Package steps has the steps of augmentation, and draws of them.
//
//	Draw ─► steps, colours that follow each other together ─► image
//	     ─► boxes, points and masks that move with it
//
// A [Step] has exact parameters and no randomness: it is a pure function of these and the image. A
// [Draw] applies steps in their order, and reads and writes them as JSON. A step that moves pixels
// also moves boxes (draw_box.go) and masks (draw_mask.go). The pixels themselves are the work of
// packages resample, recolor and warp. Which steps an image gets is decided elsewhere: nothing here
// draws a random number, but for noise from a seed that a step contains.
package steps
