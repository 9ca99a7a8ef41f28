package onnx

import (
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

func TestStringNormalizer(t *testing.T) {
	d := cpu(t)
	days := []string{"Monday", "tuesday", "MONDAY", "Émile"}
	for _, c := range []struct {
		in    any
		attrs attrs
		shape []int
		want  []string // nil: an error
	}{
		{days, nil, []int{4}, days},
		{days, attrs{"stopwords": []string{"monday"}}, []int{2}, []string{"tuesday", "Émile"}},
		{days, attrs{"stopwords": []string{"Monday"}, "is_case_sensitive": 1, "case_change_action": "LOWER"}, []int{3},
			[]string{"tuesday", "monday", "émile"}},
		{days, attrs{"case_change_action": "UPPER"}, []int{4}, []string{"MONDAY", "TUESDAY", "MONDAY", "ÉMILE"}},
		{[]string{"istanbul"}, attrs{"case_change_action": "UPPER", "locale": "tr_TR"}, []int{1}, []string{"İSTANBUL"}},
		{FromStrings(days, 1, 4), attrs{"stopwords": []string{"monday"}}, []int{1, 2}, []string{"tuesday", "Émile"}},
		{[]string{"Monday"}, attrs{"stopwords": []string{"monday"}}, []int{1}, []string{""}},
		{FromStrings([]string{"a"}, 1, 1), attrs{"stopwords": []string{"a"}}, []int{1, 1}, []string{""}},
		{FromStrings([]string{}, 0), nil, []int{1}, []string{""}},
		{FromStrings(days, 2, 2), nil, nil, nil},
		{days, attrs{"case_change_action": "TITLE"}, nil, nil},
		{[]float32{1}, nil, nil, nil},
	} {
		out, err := runNode(t, d, "StringNormalizer", 10, c.attrs, 1, c.in)
		if c.want == nil {
			if err == nil || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%v %v: %v, want an error", c.in, c.attrs, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v %v: %v", c.in, c.attrs, err)
			continue
		}
		same(t, out[0], ofStrings(c.want, c.shape))
	}
}

func TestStringConcat(t *testing.T) {
	d := cpu(t)
	for _, c := range []struct {
		x, y, want *Value // want nil: an error
	}{
		{FromStrings([]string{"a", "b"}), FromStrings([]string{"x", "ÿ"}), FromStrings([]string{"ax", "bÿ"})},
		{FromStrings([]string{"a", "b"}, 2, 1), FromStrings([]string{"x", "y", "z"}),
			FromStrings([]string{"ax", "ay", "az", "bx", "by", "bz"}, 2, 3)},
		{FromStrings([]string{"a"}), FromStrings([]string{"x", "y"}, 2, 1), FromStrings([]string{"ax", "ay"}, 2, 1)},
		{ofStrings([]string{"a"}, []int{}), FromStrings([]string{"b"}, []int{}...), ofStrings([]string{"ab"}, []int{})},
		{FromStrings([]string{}, 0, 2), FromStrings([]string{"x"}), FromStrings([]string{}, 0, 2)},
		{FromStrings([]string{"a", "b"}), FromStrings([]string{"x", "y", "z"}), nil},
	} {
		out, err := runNode(t, d, "StringConcat", 20, nil, 1, c.x, c.y)
		if c.want == nil {
			if err == nil {
				t.Errorf("%v and %v: want an error", c.x, c.y)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		same(t, out[0], c.want)
	}
}

func TestStringSplit(t *testing.T) {
	d := cpu(t)
	for _, c := range []struct {
		in     *Value
		attrs  attrs
		want   *Value
		counts []float64
	}{
		{FromStrings([]string{"a.b.c", "x"}), attrs{"delimiter": "."}, FromStrings([]string{"a", "b", "c", "x", "", ""}, 2,
			3), []float64{3, 1}},
		{FromStrings([]string{"a,,b", ",", ""}), attrs{"delimiter": ","},
			FromStrings([]string{"a", "", "b", "", "", "", "", "", ""}, 3, 3), []float64{3, 2, 1}},
		{FromStrings([]string{" a b  c ", "", " "}), nil, FromStrings([]string{"a", "b", "c", "", "", "", "", "", ""}, 3,
			3), []float64{3, 0, 0}},
		{FromStrings([]string{" a b  c ", "x"}), attrs{"maxsplit": 1, "delimiter": ""},
			FromStrings([]string{"a", "b  c", "x", ""}, 2, 2), []float64{2, 1}},
		{FromStrings([]string{" a b "}), attrs{"maxsplit": 0}, FromStrings([]string{"a b"}, 1, 1), []float64{1}},
		{FromStrings([]string{"a,b,c"}), attrs{"maxsplit": 1, "delimiter": ","}, FromStrings([]string{"a", "b,c"}, 1, 2),
			[]float64{2}},
		{FromStrings([]string{"a--b-"}, 1, 1), attrs{"delimiter": "--"}, FromStrings([]string{"a", "b-"}, 1, 1, 2),
			[]float64{2}},
		{FromStrings([]string{}, 0), attrs{"delimiter": "x"}, FromStrings([]string{}, 0, 0), nil},
		{ofStrings([]string{"a b"}, []int{}), nil, FromStrings([]string{"a", "b"}), []float64{2}},
	} {
		out, err := runNode(t, d, "StringSplit", 20, c.attrs, 2, c.in)
		if err != nil {
			t.Fatal(err)
		}
		same(t, out[0], c.want)
		wantTensor(t, out[1], tensor.Int64, c.in.Shape(), c.counts, 0)
	}
}

func TestRegexFullMatch(t *testing.T) {
	d := cpu(t)
	for _, c := range []struct {
		pattern string
		in      []string
		want    []float64
	}{
		{`a|ab`, []string{"a", "ab", "abc"}, []float64{1, 1, 0}},
		{`(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)`, []string{"account@gmail.com", "account@hotmail.com",
			"account2@yahoo.com"}, []float64{1, 0, 1}},
		{`.`, []string{"é", "\n", ""}, []float64{1, 0, 0}},
		{`^a$`, []string{"a", "a\n"}, []float64{1, 0}},
		{``, []string{"", "a"}, []float64{1, 0}},
	} {
		out, err := runNode(t, d, "RegexFullMatch", 20, attrs{"pattern": c.pattern}, 1, c.in)
		if err != nil {
			t.Fatal(err)
		}
		wantTensor(t, out[0], tensor.Bool, []int{len(c.in)}, c.want, 0)
	}
	for _, pattern := range []string{`(`, `a)|(b`, `\1`} {
		if _, err := runNode(t, d, "RegexFullMatch", 20, attrs{"pattern": pattern}, 1, []string{"a"}); err == nil {
			t.Errorf("pattern %q is taken", pattern)
		}
	}
}

// TestTfIdfVectorizer: rows of the specification's text and of the reference implementation.
func TestTfIdfVectorizer(t *testing.T) {
	d := cpu(t)
	pool := attrs{"ngram_counts": []int{0, 4}, "ngram_indexes": []int{0, 1, 2, 3, 4, 5, 6},
		"pool_int64s": []int{2, 3, 5, 4, 5, 6, 7, 8, 6, 7}}
	x := tensor.New(d, []int32{1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8}, 2, 6)
	row := []int32{1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8}
	small := attrs{"ngram_counts": []int{0}, "ngram_indexes": []int{2, 0, 1}, "pool_int64s": []int{1, 2, 3},
		"weights": []float64{10, 20, 30}, "max_gram_length": 1}
	words := attrs{"ngram_counts": []int{0, 1}, "ngram_indexes": []int{1, 0}, "pool_strings": []string{"a", "b", "a"},
		"max_gram_length": 2}
	for _, c := range []struct {
		attrs attrs
		more  attrs
		in    any
		shape []int
		want  []float64 // nil: an error
	}{
		{pool, attrs{"min_gram_length": 2, "max_gram_length": 2, "max_skip_count": 0}, row, []int{7},
			[]float64{0, 0, 0, 0, 1, 1, 1}},
		{pool, attrs{"min_gram_length": 2, "max_gram_length": 2, "max_skip_count": 5}, row, []int{7},
			[]float64{0, 0, 0, 0, 1, 3, 1}},
		{pool, attrs{"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 5}, row, []int{7},
			[]float64{0, 3, 1, 0, 1, 3, 1}},
		{pool, attrs{"min_gram_length": 2, "max_gram_length": 2, "max_skip_count": 5}, x, []int{2, 7},
			[]float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}},
		{pool, attrs{"min_gram_length": 2, "max_gram_length": 2}, tensor.New(d, []int64{}, 0), []int{7},
			[]float64{0, 0, 0, 0, 0, 0, 0}},
		{small, nil, []int64{1, 1, 2, 3, 3, 3}, []int{3}, []float64{1, 3, 2}},
		{small, attrs{"mode": "IDF"}, []int64{1, 1, 2, 3, 3, 3}, []int{3}, []float64{20, 30, 10}},
		{small, attrs{"mode": "TFIDF"}, []int64{1, 1, 2, 3, 3, 3}, []int{3}, []float64{20, 90, 20}},
		{words, nil, []string{"a", "b", "a", "c"}, []int{2}, []float64{1, 2}},
		{words, attrs{"mode": "IDF"}, FromStrings([]string{"a", "a", "b", "a"}, 2, 2), []int{2, 2}, []float64{0, 1, 1, 1}},
		{words, attrs{"mode": "X"}, []string{"a"}, nil, nil},
		{words, attrs{"max_gram_length": 3}, []string{"a"}, nil, nil},
		{words, attrs{"min_gram_length": 0}, []string{"a"}, nil, nil},
		{words, attrs{"ngram_indexes": []int{1}}, []string{"a"}, nil, nil},
		{words, attrs{"ngram_indexes": []int{1, -1}}, []string{"a"}, nil, nil},
		{words, attrs{"ngram_indexes": []int{1, math.MaxInt}}, []string{"a"}, nil, nil},
		{words, attrs{"ngram_counts": []int{0, 9}}, []string{"a"}, nil, nil},
		{words, nil, FromStrings([]string{"a"}, 1, 1, 1), nil, nil},
	} {
		a := attrs{"mode": "TF", "min_gram_length": 1, "max_skip_count": 0}
		for _, from := range []attrs{c.attrs, c.more} {
			for name, v := range from {
				a[name] = v
			}
		}
		out, err := runNode(t, d, "TfIdfVectorizer", 9, a, 1, c.in)
		if c.want == nil {
			if err == nil || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%v: %v, want an error", c.more, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.more, err)
			continue
		}
		wantTensor(t, out[0], tensor.Float32, c.shape, c.want, 0)
	}
}
