// Package render does the work on one image that tasks describe, and has what backends share.
//
//	Task: JPEG, image or planes ─► decode ─► draw ─► resize ─► pixels, planes or floats
//
// [CPU] is the backend that executes tasks with the packages of this module. A backend on a device
// gets them from package lower as programs. A damaged JPEG is reported by [Task.ReadJPEG], before
// any backend sees it.
package render
