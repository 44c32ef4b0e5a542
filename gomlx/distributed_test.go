package gomlx

import (
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/distributed"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/core/tensors/dtensor"
	"github.com/gomlx/gomlx/ml/train"

	"github.com/tfrec/tfrec/reader"
)

// fourDevices is the Go backend, which has one device, with a memory for each of four.
type fourDevices struct{ compute.Backend }

func (b fourDevices) NumDevices() int { return 4 }

func (b fourDevices) NewSharedBuffer(_ compute.DeviceNum, shape shapes.Shape) (compute.Buffer, any, error) {
	return b.Backend.NewSharedBuffer(0, shape)
}

func newFourDevices(t *testing.T) fourDevices {
	t.Helper()
	backend, err := gobackend.New("")
	if err != nil {
		t.Fatal(err)
	}
	return fourDevices{backend}
}

func newMesh(t *testing.T, sizes []int, names ...string) *distributed.DeviceMesh {
	t.Helper()
	mesh, err := distributed.NewDeviceMesh(sizes, names)
	if err != nil {
		t.Fatal(err)
	}
	return mesh
}

// merged returns the whole tensor of shards, after it has checked where they are.
func merged(t *testing.T, x *dtensor.Tensor, shard []int, assignment []compute.DeviceNum) *tensors.Tensor {
	t.Helper()
	for i, s := range x.Shards() {
		device, err := s.Device()
		if err != nil || device != assignment[i] || !slices.Equal(s.Shape().Dimensions, shard) {
			t.Errorf("shard %d of the shape %v is on device %d (%v); want %v on device %d", i, s.Shape(), device, err, shard, assignment[i])
		}
	}
	whole, err := x.Merge()
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

var twoTensors = Columns{Inputs: []Column{{Key: "id"}, {Key: "x"}}, Labels: []Column{{Key: "id", DType: dtypes.Float32}}}

// The shards of a distributed batch are the batch of one device, and its State is the same.
func TestDistributedBatches(t *testing.T) {
	set := openSet(t, writeSet(t), reader.Options{Seed: 3})
	flow := reader.ParseColumns(set.Interleave(2, 1).Shuffle(20), reader.ColumnSpec{Batch: 8, DropRemainder: true})
	row, grid := newMesh(t, []int{4}, "data"), newMesh(t, []int{2, 2}, "data", "model")
	replicated := distributed.NewReplicatedShardingSpec(grid)
	for name, c := range map[string]struct {
		devices         Devices
		ids, xs, labels []int // shapes of a shard
	}{
		"by record": {Devices{Mesh: row}, []int{2, 1}, []int{2, 3}, []int{2, 1}},
		"assigned":  {Devices{Mesh: row, Assignment: []compute.DeviceNum{2, 0, 3, 1}}, []int{2, 1}, []int{2, 3}, []int{2, 1}},
		"grid":      {Devices{Mesh: grid}, []int{4, 1}, []int{4, 3}, []int{4, 1}},
		"replicated": {Devices{Mesh: grid, Inputs: []*distributed.ShardingSpec{replicated}, Labels: []*distributed.ShardingSpec{replicated}},
			[]int{8, 1}, []int{8, 3}, []int{8, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			c.devices.Backend = newFourDevices(t)
			one, err := New(t.Context(), "one", flow, reader.From{}, twoTensors)
			if err != nil {
				t.Fatal(err)
			}
			defer one.Close()
			many, err := New(t.Context(), "many", flow, reader.From{}, twoTensors)
			if err != nil {
				t.Fatal(err)
			}
			ds, err := Distribute(many, c.devices)
			if err != nil {
				t.Fatal(err)
			}
			defer ds.Close()
			assignment := ds.DeviceAssignment()
			if len(assignment) != 4 || ds.Strategy() != distributed.AutoSharding {
				t.Errorf("devices %v, strategy %v", assignment, ds.Strategy())
			}
			for range 2 {
				var whole []train.Batch
				for batch, err := range one.Iter() {
					if err != nil {
						t.Fatal(err)
					}
					whole = append(whole, batch)
				}
				n := 0
				for batch, err := range ds.DistributedIter() {
					if err != nil {
						t.Fatal(err)
					}
					want := whole[n]
					n++
					same(t, "id", merged(t, batch.Inputs[0], c.ids, assignment), []int{8, 1}, flat[int64](t, want.Inputs[0]))
					same(t, "x", merged(t, batch.Inputs[1], c.xs, assignment), []int{8, 3}, flat[float32](t, want.Inputs[1]))
					same(t, "label", merged(t, batch.Labels[0], c.labels, assignment), []int{8, 1}, flat[float32](t, want.Labels[0]))
					if err := batch.Finalize(); err != nil {
						t.Fatal(err)
					}
				}
				if n != len(whole) || n != records/8 {
					t.Errorf("%d batches; want %d", n, len(whole))
				}
				if a, b := one.State(), ds.State(); a.Epoch != b.Epoch || a.Skip != b.Skip {
					t.Errorf("state %v; want %v", b, a)
				}
			}
			if got := some(t, ds, 1); len(got) != 1 || len(got[0]) != 8 {
				t.Errorf("a batch for one device: %v", got)
			}
		})
	}
}

func TestDistributeErrors(t *testing.T) {
	flow := shuffled(openSet(t, writeSet(t), reader.Options{}), 6)
	mesh := newMesh(t, []int{4}, "data")
	backend := newFourDevices(t)
	other := distributed.NewReplicatedShardingSpec(newMesh(t, []int{4}, "data"))
	for want, devices := range map[string]Devices{
		"want a Backend and a Mesh":        {Mesh: mesh},
		"want a Backend and a Mesh ":       {Backend: backend},
		"the Assignment has 2, the Mesh 4": {Backend: backend, Mesh: mesh, Assignment: []compute.DeviceNum{0, 1}},
		"device 4: the backend":            {Backend: backend, Mesh: mesh, Assignment: []compute.DeviceNum{1, 2, 3, 4}},
		"device 1: the backend":            {Backend: backend.Backend, Mesh: mesh},
		"is not of the Mesh":               {Backend: backend, Mesh: mesh, Inputs: []*distributed.ShardingSpec{other}},
		"is not of the Mesh ":              {Backend: backend, Mesh: mesh, Labels: []*distributed.ShardingSpec{nil}},
	} {
		if _, err := Distribute(begin(t, flow), devices); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) || !strings.HasPrefix(err.Error(), "dataset ids: ") {
			t.Errorf("%v; want %q", err, want)
		}
	}

	// 6 records can't be split over 4 devices. The error is final.
	ds, err := Distribute(begin(t, flow), Devices{Backend: backend, Mesh: mesh})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		n := 0
		for _, err := range ds.DistributedIter() {
			if n++; err == nil || !strings.Contains(err.Error(), "dataset ids: ") || !strings.Contains(err.Error(), "not divisible") {
				t.Errorf("%v; want that the batch is not divisible", err)
			}
		}
		if n != 1 {
			t.Errorf("%d iterations; want 1", n)
		}
	}
	if err := failure(ds); err == nil {
		t.Error("an iterator for one device does not return the error")
	}
}
