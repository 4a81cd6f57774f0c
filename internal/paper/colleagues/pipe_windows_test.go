package colleagues

import "errors"

func mkfifo(string) error { return errors.New("pipes have no names in folders here") }
