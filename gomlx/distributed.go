package gomlx

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/distributed"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/core/tensors/dtensor"
	"github.com/gomlx/gomlx/ml/train"
)

// Devices is a mesh of devices, and how batches are split over it.
type Devices struct {
	// Backend that has the devices.
	Backend compute.Backend
	// Mesh is the logical order of the devices.
	Mesh *distributed.DeviceMesh
	// Strategy of the execution. Default: distributed.AutoSharding.
	Strategy distributed.Strategy
	// Assignment is the device of each place in the mesh. Default: 0, 1, 2 and so on.
	Assignment []compute.DeviceNum
	// Inputs and Labels describe how each tensor of a batch is split over the Mesh; the last one
	// also describes the tensors after it. Default: the records are split over the first axis of
	// the Mesh.
	Inputs, Labels []*distributed.ShardingSpec
}

// Distributed is a [Dataset] whose batches are split over devices. It implements
// train.DistributedDataset.
//
// Each batch of the flow becomes one distributed batch, so that any number of devices trains on the
// same records in the same steps, and a State of one number of devices resumes with another. The
// records of a batch must be divisible by the devices that share them: drop the smaller last batch
// of an epoch.
type Distributed[B any] struct {
	*Dataset[B]
	devices Devices
}

var _ train.DistributedDataset = (*Distributed[any])(nil)

// Distribute splits the batches of a Dataset over devices. Both share the stream: closing one closes
// the other.
func Distribute[B any](ds *Dataset[B], devices Devices) (*Distributed[B], error) {
	if err := devices.complete(); err != nil {
		return nil, fmt.Errorf("dataset %s: %w", ds.name, err)
	}
	return &Distributed[B]{Dataset: ds, devices: devices}, nil
}

// complete sets the defaults, and reports settings that don't fit together.
func (d *Devices) complete() error {
	if d.Backend == nil || d.Mesh == nil {
		return errors.New("devices: want a Backend and a Mesh")
	}
	n := d.Mesh.NumDevices()
	if d.Strategy == distributed.None {
		d.Strategy = distributed.AutoSharding
	}
	if d.Assignment == nil {
		for i := range n {
			d.Assignment = append(d.Assignment, compute.DeviceNum(i))
		}
	}
	if len(d.Assignment) != n {
		return fmt.Errorf("devices: the Assignment has %d, the Mesh %d", len(d.Assignment), n)
	}
	for _, device := range d.Assignment {
		if device < 0 || int(device) >= d.Backend.NumDevices() {
			return fmt.Errorf("devices: device %d: the backend %s has %d", device, d.Backend.Name(), d.Backend.NumDevices())
		}
	}
	byRecord, err := distributed.BuildSpec(d.Mesh).S(d.Mesh.AxesNames()[0]).Done()
	if err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	for _, specs := range []*[]*distributed.ShardingSpec{&d.Inputs, &d.Labels} {
		if len(*specs) == 0 {
			*specs = []*distributed.ShardingSpec{byRecord}
		}
		for _, spec := range *specs {
			if spec == nil || spec.Mesh != d.Mesh {
				return errors.New("devices: a ShardingSpec is not of the Mesh")
			}
		}
	}
	return nil
}

// Strategy returns the strategy of the execution.
func (d *Distributed[B]) Strategy() distributed.Strategy { return d.devices.Strategy }

// DeviceAssignment returns the device of each place in the mesh.
func (d *Distributed[B]) DeviceAssignment() []compute.DeviceNum { return d.devices.Assignment }

// DistributedIter is [Dataset.Iter] for batches whose shards are on their devices.
func (d *Distributed[B]) DistributedIter() iter.Seq2[train.DistributedBatch, error] {
	return func(yield func(train.DistributedBatch, error) bool) {
		for begins := true; ; begins = false {
			whole, err := d.next(begins)
			var batch train.DistributedBatch
			if err == nil {
				batch, err = d.split(whole)
			}
			if err == io.EOF || !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

// split moves a batch to the devices. An error is final.
func (d *Distributed[B]) split(whole train.Batch) (batch train.DistributedBatch, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	started := time.Now()
	defer func() { d.waited += time.Since(started) }()
	defer whole.Finalize()
	if batch.Inputs, err = d.devices.shards(whole.Inputs, d.devices.Inputs); err == nil {
		batch.Labels, err = d.devices.shards(whole.Labels, d.devices.Labels)
	}
	if err != nil {
		d.err = fmt.Errorf("dataset %s: %w", d.name, errors.Join(err, batch.Finalize()))
		return train.DistributedBatch{}, d.err
	}
	return batch, nil
}

// shards splits tensors. It returns those before the first error, too.
func (d *Devices) shards(whole []*tensors.Tensor, specs []*distributed.ShardingSpec) (all []*dtensor.Tensor, err error) {
	for i, t := range whole {
		shards, err := dtensor.ShardTensor(specs[min(i, len(specs)-1)], t)
		if err != nil {
			return all, err
		}
		all = append(all, shards)
		for i, shard := range shards.Shards() {
			if err := shard.ToDevice(d.Backend, d.Assignment[i]); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}
