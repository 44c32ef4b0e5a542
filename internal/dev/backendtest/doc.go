// Package backendtest holds backends of package augment to one another: to the
// bytes that the functions of augment make, whatever the images, draws, sizes
// and forms.
//
//	func TestBackend(t *testing.T) { backendtest.Run(t, mine, 2000) }
package backendtest
