package distribute

import (
	"context"
	"errors"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// storedFailure is the serialized error of a part or a shard.
type storedFailure struct {
	Plan    string `json:"plan"`
	Message string `json:"message"`
	// Damage is set if the error is a DamagedError.
	Damage *storedDamage `json:"damage,omitempty"`
}

// storedDamage is the serialized form of a *tfrecord.Error.
type storedDamage struct {
	Name    setdir.InputKey `json:"name"`
	Record  int64           `json:"record"`
	Offset  int64           `json:"offset"`
	Part    tfrecord.Part   `json:"part"`
	Message string          `json:"message"`
}

// fail stores an error for the planning run, if possible.
func (p *Plan) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // canceled because of another error, or none
	}
	dir, joining := p.join(context.WithoutCancel(ctx))
	if joining != nil {
		return
	}
	defer dir.Close()
	failure := storedFailure{Plan: p.id, Message: err.Error()}
	var damage *shard.DamagedError
	var fault *tfrecord.Error
	if errors.As(err, &damage) && errors.As(err, &fault) {
		failure.Damage = &storedDamage{setdir.InputKey(fault.Name), fault.Record, fault.Offset, fault.Part, fault.Err.Error()}
	}
	dir.State().PutFile(setdir.ReshardFailureFile, &failure) // best effort: without it, the runner's error text remains
}

// failure returns the error stored by a part or a shard; nil if there is none.
func (p *Plan) failure(dir *setdir.Dir) error {
	var f storedFailure
	usable, err := dir.State().ReadFile(setdir.ReshardFailureFile, &f)
	if !usable || f.Plan != p.id {
		return err
	}
	if d := f.Damage; d != nil {
		return &shard.DamagedError{Err: &tfrecord.Error{Name: string(d.Name), Record: d.Record, Offset: d.Offset, Part: d.Part, Err: errors.New(d.Message)}}
	}
	return errors.New(f.Message)
}
