// Package interop lets TensorFlow, TFDS and the tfrecord package of PyPI judge
// what this module writes, and lets them write what it must read.
//
// It holds tests only, after the build tag interop; they need the virtual environment that `make
// venv` makes and the command that `make build` builds:
//
//	make interop
//
// judge.py is TensorFlow's side, one process for all tests that receives requests as lines of JSON;
// pypi.py is the side of the tfrecord package. images.py judges the samples of batches of images,
// boxes.py the boxes of draws. regions.py checks regions and COCO files with pycocotools.
// emitted.py runs the programs of `tfrec inspect --emit`.
// cards.py reads cards with Hugging Face's library and mlcroissant.
package interop
