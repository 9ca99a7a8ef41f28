package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenizer is GPT-2's byte-level byte pair encoding.
type tokenizer struct {
	tokens map[string]int32 // of symbols
	text   map[int32]string // bytes of a token
	ranks  map[[2]string]int
	bytes  [256]string // the symbols of bytes
	end    int32       // <|endoftext|>, which is never in a text
}

// space is a class of what counts as a space.
const space = `\t-\r\x{85}\p{Z}`

// words are what symbols are joined in: contractions, and letters, digits or others behind a space.
var words = regexp.MustCompile(`'(?:[stmd]|re|ve|ll)| ?\p{L}+| ?\p{N}+| ?[^` + space + `\p{L}\p{N}]+|[` + space + `]+`)

// readTokenizer reads vocab.json and merges.txt of a folder.
func readTokenizer(folder string) (*tokenizer, error) {
	t := &tokenizer{tokens: map[string]int32{}, text: map[int32]string{}, ranks: map[[2]string]int{}}
	vocab, merges := filepath.Join(folder, "vocab.json"), filepath.Join(folder, "merges.txt")
	if err := readJSON(vocab, &t.tokens); err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(merges)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(raw), "\n") {
		if a, b, is := strings.Cut(strings.TrimRight(line, "\r"), " "); is && (i > 0 || !strings.HasPrefix(line, "#version")) {
			t.ranks[[2]string{a, b}] = i
		}
	}
	// A byte that can be seen is its own symbol, others are the runes from 256 on, in their order.
	byteOf, next := map[rune]byte{}, rune(256)
	for b := range 256 {
		r := rune(b)
		if !(b > ' ' && b < 0x7f || b > 0xa0 && b != 0xad) {
			r, next = next, next+1
		}
		t.bytes[b], byteOf[r] = string(r), byte(b)
	}
	for symbol, token := range t.tokens {
		var text []byte
		for _, r := range symbol {
			b, is := byteOf[r]
			if !is {
				return nil, fmt.Errorf("%s: the symbol %q is not of bytes", vocab, symbol)
			}
			text = append(text, b)
		}
		t.text[token] = string(text)
	}
	for _, b := range t.bytes {
		if _, is := t.tokens[b]; !is {
			return nil, fmt.Errorf("%s: there is no %q", vocab, b)
		}
	}
	for pair := range t.ranks {
		if _, is := t.tokens[pair[0]+pair[1]]; !is {
			return nil, fmt.Errorf("%s: there is no %q, which %s makes", vocab, pair[0]+pair[1], merges)
		}
	}
	end, is := t.tokens["<|endoftext|>"]
	if !is {
		return nil, fmt.Errorf("%s: there is no <|endoftext|>", vocab)
	}
	t.end = end
	return t, nil
}

// encode returns the tokens of a text.
func (t *tokenizer) encode(text string) (tokens []int32) {
	for text != "" {
		word := text
		if at := words.FindStringIndex(text); at != nil && at[0] == 0 {
			word = text[:at[1]]
		}
		// Of several spaces before a word the last is the word's, if it is one.
		if rest := text[len(word):]; rest != "" && strings.TrimFunc(word, isSpace) == "" {
			if _, size := utf8.DecodeLastRuneInString(word); size < len(word) {
				word = word[:len(word)-size]
			}
		}
		text = text[len(word):]
		var symbols []string
		for _, b := range []byte(word) {
			symbols = append(symbols, t.bytes[b])
		}
		for _, s := range t.joined(symbols) {
			tokens = append(tokens, t.tokens[s])
		}
	}
	return tokens
}

func isSpace(r rune) bool { return r >= '\t' && r <= '\r' || r == 0x85 || unicode.Is(unicode.Z, r) }

// joined returns symbols with pairs joined, those of the lowest rank first.
func (t *tokenizer) joined(symbols []string) []string {
	for {
		best, found := [2]string{}, -1
		for i := range len(symbols) - 1 {
			pair := [2]string{symbols[i], symbols[i+1]}
			if rank, is := t.ranks[pair]; is && (found < 0 || rank < found) {
				best, found = pair, rank
			}
		}
		if found < 0 {
			return symbols
		}
		kept := symbols[:0]
		for i := 0; i < len(symbols); i++ {
			s := symbols[i]
			if i+1 < len(symbols) && s == best[0] && symbols[i+1] == best[1] {
				s, i = s+symbols[i+1], i+1
			}
			kept = append(kept, s)
		}
		symbols = kept
	}
}

// decode returns the text of tokens. A rune may need several tokens.
func (t *tokenizer) decode(tokens []int32) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteString(t.text[token])
	}
	return b.String()
}
