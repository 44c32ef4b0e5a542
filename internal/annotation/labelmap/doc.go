// Package labelmap reads and writes label_map.pbtxt, in which TensorFlow's Object Detection API
// keeps the names of classes: a StringIntLabelMap in the text format of protocol buffers.
//
//	item {
//	  id: 1
//	  name: "person"
//	}
package labelmap
