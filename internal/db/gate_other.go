//go:build !linux && !darwin

package db

import (
	"errors"
	"os"
)

func lockByte(*os.File, int64) error   { return errors.ErrUnsupported }
func awaitByte(*os.File, int64) error  { return errors.ErrUnsupported }
func unlockByte(*os.File, int64) error { return errors.ErrUnsupported }
