package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// shard is a share of a list: every count-th element from index on.
type shard struct{ index, count int }

// The indices that array jobs of Slurm and indexed jobs of Kubernetes give to their tasks.
const (
	slurmID    = "SLURM_ARRAY_TASK_ID"
	slurmMin   = "SLURM_ARRAY_TASK_MIN"
	slurmStep  = "SLURM_ARRAY_TASK_STEP"
	slurmCount = "SLURM_ARRAY_TASK_COUNT"
	kubeIndex  = "JOB_COMPLETION_INDEX"
)

// parseShard reads "I/N", or "N" where the environment gives the index, or "" where it gives both or neither.
// source names where the share comes from, "" if there is none.
func parseShard(text string) (s shard, source string, err error) {
	index, count, hasSlash := strings.Cut(text, "/")
	switch {
	case hasSlash:
		s.index, err = strconv.Atoi(index)
		if err == nil {
			s.count, err = strconv.Atoi(count)
		}
		source = "--shard"
	case text != "":
		s.count, err = strconv.Atoi(text)
		if err == nil {
			s.index, source, err = indexFromEnv()
		}
		if err == nil && source == "" {
			return s, "", fmt.Errorf("--shard %s: without an index neither %s nor %s is set: give I/N", text, slurmID, kubeIndex)
		}
	default:
		if os.Getenv(slurmID) == "" && os.Getenv(kubeIndex) != "" {
			return s, "", fmt.Errorf("%s is set: give the number of completions with --shard N (or --shard 0/1 for all images)", kubeIndex)
		}
		s.index, source, err = indexFromEnv()
		if err != nil || source == "" {
			return shard{0, 1}, "", err
		}
		s.count, err = strconv.Atoi(os.Getenv(slurmCount))
	}
	if err != nil {
		return s, source, fmt.Errorf("--shard %q: it is I/N, or N in an array job: %w", text, err)
	}
	if s.count < 1 || s.index < 0 || s.index >= s.count {
		return s, source, fmt.Errorf("shard %d of %d: shards are counted from 0 to %d", s.index, s.count, s.count-1)
	}
	return s, source, nil
}

// indexFromEnv returns this task's index, from 0 on, and the variable it comes from.
func indexFromEnv() (index int, source string, err error) {
	number := func(name string, otherwise int) int {
		v, ok := os.LookupEnv(name)
		if !ok || err != nil {
			return otherwise
		}
		n, e := strconv.Atoi(v)
		if e != nil {
			err = fmt.Errorf("%s is %q: it must be a number", name, v)
		}
		return n
	}
	if _, ok := os.LookupEnv(slurmID); ok {
		index = (number(slurmID, 0) - number(slurmMin, 0)) / max(number(slurmStep, 1), 1)
		return index, slurmID, err
	}
	if _, ok := os.LookupEnv(kubeIndex); ok {
		return number(kubeIndex, 0), kubeIndex, err
	}
	return 0, "", nil
}

// of returns the elements of the share.
func (s shard) of(names []string) []string {
	var list []string
	for i := s.index; i < len(names); i += s.count {
		list = append(list, names[i])
	}
	return list
}
