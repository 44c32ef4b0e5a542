// Package classfile reads files that list classes: a class on each line, or a label map of
// TensorFlow's Object Detection API.
//
//	list, err := classfile.Read(ctx, "classes.txt")
//	classes, err := list.Number([]string{"cat", "dog"}, false)  // of labels that are names
//	classes, err := list.Number([]string{"cat", "1"}, true)     // of names and ids
//	classes, err := list.NumberIDs(ids, digits)                 // of labels that are integers
//
// The id of a class is the number of its line, from 0. Lines may be pairs instead:
//
//	n02119789 kit fox      a label of the input and its name; the id is the number of the line
//	3 roses                an id and its name, if all lines begin with an integer
//
// A label map has the ids that it states. Ids without a class are named by their numbers.
package classfile
