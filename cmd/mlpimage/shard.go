package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// shard is a share of a list: every count-th element from index on.
type shard struct{ index, count int }

// kubeIndex is the variable in which an indexed job of Kubernetes gives its index to a pod.
const kubeIndex = "JOB_COMPLETION_INDEX"

// parseShard reads "I/N", or "N" where the environment gives the index, or "" where it gives both
// or neither. source names where the share comes from, "" if there is none. out is the folder of
// the results.
//
// With N the index is the task's own number: a rerun of some tasks of an array does what those
// tasks would have done. Without it each array job shares out the whole folder among the tasks it
// has.
func parseShard(ctx context.Context, text, out string) (s shard, source string, err error) {
	index, count, hasSlash := strings.Cut(text, "/")
	switch {
	case hasSlash:
		source = "--shard"
		s.index, err = strconv.Atoi(index)
		if err == nil {
			s.count, err = strconv.Atoi(count)
		}
		if err != nil {
			return s, source, notShard(text)
		}
	case text != "":
		if s.count, err = strconv.Atoi(text); err != nil {
			return s, "", notShard(text)
		}
		for _, name := range []string{slurmID, kubeIndex} {
			if _, ok := os.LookupEnv(name); ok {
				source = name
				break
			}
		}
		if source == "" {
			return s, "", fmt.Errorf("--shard %s: without an index neither %s nor %s is set: give I/N", text, slurmID, kubeIndex)
		}
		if s.index, err = envNumber(source); err != nil {
			return s, source, err
		}
	case os.Getenv(slurmID) != "":
		s, err = slurmShard(ctx, out)
		return s, slurmID, err
	case os.Getenv(kubeIndex) != "":
		return s, "", fmt.Errorf("%s is set: give the number of completions with --shard N (or --shard 0/1 for all images)", kubeIndex)
	default:
		return shard{0, 1}, "", nil
	}
	if s.count < 1 {
		return s, source, fmt.Errorf("--shard %s: there must be at least 1 share", text)
	}
	if s.index < 0 || s.index >= s.count {
		return s, source, fmt.Errorf("shard %d of %d (%s): shards are counted from 0 to %d", s.index, s.count, source, s.count-1)
	}
	return s, source, nil
}

func notShard(text string) error {
	return fmt.Errorf("--shard %q: it is I/N, such as 0/4, or N in an array job", text)
}

// envNumber returns the number in a variable of the environment.
func envNumber(name string) (int, error) {
	text, ok := os.LookupEnv(name)
	if !ok {
		return 0, fmt.Errorf("%s is not set: give --shard I/N", name)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s is %q: it must be a number", name, text)
	}
	return n, nil
}

// of returns the elements of the share.
func (s shard) of(names []string) []string {
	var list []string
	for i := s.index; i < len(names); i += s.count {
		list = append(list, names[i])
	}
	return list
}
