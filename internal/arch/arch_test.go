package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "bureau/"

// source is a file of the module that is no test.
type source struct {
	pkg  string // folder below the module's root
	path string
	file *ast.File
}

func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var out []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		out = append(out, source{pkg: filepath.ToSlash(filepath.Dir(rel)), path: rel, file: f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("found only %d files: the test looks in the wrong place", len(out))
	}
	return out
}

func imports(f *ast.File) []string {
	var out []string
	for _, i := range f.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		out = append(out, p)
	}
	return out
}

func floorOf(pkg string) int {
	for i, floor := range Floors {
		if slices.Contains(floor, pkg) {
			return i
		}
	}
	return -1
}

func TestNobodyImportsUpwards(t *testing.T) {
	for _, s := range sources(t) {
		from := floorOf(s.pkg)
		if from < 0 {
			t.Errorf("%s: package %s stands on no floor; give it one in arch.go", s.path, s.pkg)
			continue
		}
		for _, p := range imports(s.file) {
			to, ours := strings.CutPrefix(p, module)
			if !ours {
				continue
			}
			parent := strings.HasPrefix(s.pkg, to+"/")
			ground := from == 0 && floorOf(to) == 0
			if floorOf(to) >= from && !parent && !ground {
				t.Errorf("%s: %s (floor %d) imports %s (floor %d); only lower floors may be imported", s.path, s.pkg, from, to, floorOf(to))
			}
		}
	}
}

// The rules have no clock, no disk and no goroutine, so that any schedule of
// commands can be tried in a test.
func TestPurePackagesStayPure(t *testing.T) {
	banned := []string{"os", "os/exec", "io/fs", "io/ioutil", "net", "net/http", "path/filepath", "syscall", "database/sql", "math/rand"}
	for _, s := range sources(t) {
		if !slices.Contains(Pure, s.pkg) {
			continue
		}
		for _, p := range imports(s.file) {
			if slices.Contains(banned, p) {
				t.Errorf("%s: a pure package imports %q", s.path, p)
			}
		}
		rules := floorOf(s.pkg) == 1
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: a pure package starts a goroutine", s.path)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && rules && x.Name == "time" && (n.Sel.Name == "Now" || n.Sel.Name == "Since" || n.Sel.Name == "Until") {
					t.Errorf("%s: a rule looks at the clock (time.%s)", s.path, n.Sel.Name)
				}
			}
			return true
		})
	}
}

// Every package says what it is for.
func TestPackagesHaveComments(t *testing.T) {
	said := map[string]bool{}
	for _, s := range sources(t) {
		said[s.pkg] = said[s.pkg] || s.file.Doc != nil
	}
	for pkg, ok := range said {
		if !ok {
			t.Errorf("package %s has no comment", pkg)
		}
	}
}
