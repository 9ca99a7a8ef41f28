//go:build !amd64 && !arm64

package vec

func found() []*Set { return nil }
