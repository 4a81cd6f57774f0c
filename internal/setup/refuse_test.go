package setup

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/fault"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("[", 20000)
	broken := map[string]string{
		"half a file": `{"hooks":{`, "not JSON": "hooks: {}", "zeros": strings.Repeat("\x00", 30), "nested": `{"a":` + long, "UTF-16": "\xff\xfe{\x00}\x00",
		"a list": "[]", "null": "null", "a string": `"x"`, "hooks a list": `{"hooks":[]}`, "hooks a string": `{"hooks":"x"}`,
		"an event an object": `{"hooks":{"Stop":{}}}`, "permissions a list": `{"permissions":[]}`, "allow a string": `{"permissions":{"allow":"x"}}`,
	}
	for name, text := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.o.Allow = true
			d.write(d.settings(), text)
			before := d.files()
			_, err := Prepare(d.o)
			if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), d.settings()) || fault.HintOf(err) == "" {
				t.Errorf("%v", err)
			}
			sameFiles(t, d.files(), before)
		})
	}
	for name, text := range map[string]string{
		"another's server": `{"mcpServers":{"bureau":{"command":"npx","args":["bureau-mcp"]}}}`, "servers a list": `{"mcpServers":[]}`, "no server": `{"mcpServers":{"bureau":7}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.write(d.global(), text)
			before := d.files()
			if _, err := Prepare(d.o); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), d.global()) {
				t.Errorf("%v", err)
			}
			sameFiles(t, d.files(), before)
			d.apply(PrepareRemoval)
			sameFiles(t, d.files(), before)
		})
	}
	t.Run("read-only", func(t *testing.T) {
		d := newDesk(t)
		d.write(d.settings(), "{}")
		if err := os.Chmod(d.settings(), 0o440); err != nil {
			t.Fatal(err)
		}
		before := d.files()
		if _, err := Prepare(d.o); !fault.Is(err, fault.Denied) {
			t.Errorf("%v", err)
		}
		sameFiles(t, d.files(), before)
	})
	t.Run("options", func(t *testing.T) {
		for _, change := range []func(*Options){
			func(o *Options) { o.Home = "relative" }, func(o *Options) { o.Hook = "" }, func(o *Options) { o.Scope = "everybody" },
			func(o *Options) { o.Scope, o.Project = Project, "" }, func(o *Options) { o.Homes = nil },
			func(o *Options) { o.Bureau = "/a\nb" }, func(o *Options) { o.Home = "/x/${HOME}/y" },
		} {
			o := newDesk(t).o
			change(&o)
			if _, err := Prepare(o); !fault.Is(err, fault.Invalid) {
				t.Errorf("%+v: %v", o, err)
			}
		}
	})
}

func TestLinks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	real := filepath.Join(d.root, "dotfiles", "claude settings.json")
	d.write(real, "{\n  \"a\": 1\n}\n")
	if err := os.Symlink(real, d.settings()); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	d.apply(Prepare)
	if info, err := os.Lstat(d.settings()); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
	if len(ourHooks(t, d.read(real))) == 0 {
		t.Error("the link's target was not changed")
	}
	d.apply(PrepareRemoval)
	if got := d.read(real); got != "{\n  \"a\": 1\n}\n" {
		t.Errorf("%q", got)
	}
	os.Remove(real)
	if _, err := Prepare(d.o); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a link that leads nowhere: %v", err)
	}
}
