package clrt

import (
	"fmt"
	"strings"
)

// retarget returns a program in PTX for `target`, such as sm_90a, in which the statements that were
// comments for it,
//
//	//sm_90a wgmma.fence.sync.aligned;
//
// are none any more. The program must be for the same devices without what that target adds, here
// sm_90. A statement for a target that would stay a comment is an error: it would be left out
// without a word.
func retarget(ptx, target string) (string, error) {
	const directive = ".target "
	before, rest, found := strings.Cut(ptx, directive)
	if !found {
		return "", fmt.Errorf("it is not in PTX")
	}
	end := strings.IndexAny(rest, ", \r\n")
	if base := strings.TrimRight(target, "af"); end < 0 || rest[:end] != base {
		return "", fmt.Errorf("it is for %q, not for %s", rest[:max(end, 0)], base)
	}
	mark := "//" + target + " "
	if !strings.Contains(rest, mark) {
		return "", fmt.Errorf("no statement is marked for %s", target)
	}
	rest = strings.ReplaceAll(rest[end:], mark, "")
	if _, left, found := strings.Cut(rest, "//sm_"); found {
		line, _, _ := strings.Cut(left, "\n")
		return "", fmt.Errorf("a statement is marked %q, not %q", "//sm_"+line, mark)
	}
	return before + directive + target + rest, nil
}
