package quote

// Text makes text of others safe for a place where a model reads it inside a
// structure of its own, such as a string in a tool's JSON: lines stay, what
// hides is shown, look-alikes of known tags are neutralised. Some clients decode
// the JSON and give it to the model anew, so JSON's own escapes do not do that.
func Text(s string) string { return show(s, style{lines: true, tame: true}) }
