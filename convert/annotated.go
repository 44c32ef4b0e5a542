package convert

// optionAnnotations is the format of annotations: a set that has this option has objects.
const optionAnnotations = "annotations"

// optionDropEmpty is the option of sets without records that have no objects.
const optionDropEmpty = "drop_empty"

// optionMinVisibility is the option of sets whose objects are moved with the pixels of images.
const optionMinVisibility = "min_visibility"

// movesObjects reports whether objects are moved with the pixels, and counted.
func (r *run) movesObjects() bool { return r.options[optionMinVisibility] != nil }
