package hook

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestMembersAreWhatJSONSays: of every object the fields are found as a JSON
// reader finds them.
func TestMembersAreWhatJSONSays(t *testing.T) {
	check := func(t interface {
		Errorf(string, ...any)
	}, text string) {
		var want map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Errorf("%s: %v", text, err)
			return
		}
		got := members([]byte(text))
		if len(got) != len(want) {
			t.Errorf("%s: %d fields, want %d", text, len(got), len(want))
		}
		for k, v := range want {
			if string(got[k]) != string(v) {
				t.Errorf("%s: %q is %s, want %s", text, k, got[k], v)
			}
		}
	}
	for _, text := range []string{
		`{}`, ` { "a" : 1 , "b":[1,{"c":"]}"}] } `, `{"a":"x\\\\\"","b":"\\"}`, `{"a":{"a":1},"a":2}`, `{"\u0061":true,"n":null,"d":-1.5e3}`, "{\"a\":\n\"x\"\n}",
		`{"quo\"te":"\\\"}","z":{}}`,
	} {
		check(t, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.MapOf(rapid.String(), rapid.OneOf(rapid.String().AsAny(), rapid.Int().AsAny(), rapid.Bool().AsAny(),
			rapid.SliceOf(rapid.String()).AsAny(), rapid.MapOf(rapid.String(), rapid.String()).AsAny())).Draw(t, "fields")
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		check(t, string(raw))
	})
	for _, text := range []string{``, `[]`, `"x"`, `{`, `{"a"`, `{"a":`, `{"a":"`, `{"a":{`, `{"a" 1}`, `{1:2}`} {
		_ = members([]byte(text)) // torn input names what it names and breaks nothing
	}
	if got := members([]byte(`{"a":1,"b":"x`)); !reflect.DeepEqual(string(got["a"]), "1") {
		t.Errorf("%s", got)
	}
}
