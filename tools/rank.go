package tools

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"
)

// How much a word counts where it stands, and how much a word that only resembles
// one of the query's.
const (
	weightName        = 3.0
	weightHint        = 1.5
	weightDescription = 1.0
	weightPrefix      = 0.8
	weightTypo        = 0.6
)

// maxTyped is the longest word, in characters, in which slips are looked for.
const maxTyped = 64

// rankTools orders tools by how well they fit a query, and leaves out those that
// do not: by its words in name, hint and description (BM25), with beginnings of
// words and slips of the keyboard, and by names that are typed approximately. A
// tool whose name or description holds the query as it stands is always there.
func rankTools(query string, specs []*Spec) []*Spec {
	index := newToolIndex(specs)
	scores := index.words(query)
	for i, score := range approximate(query, specs) {
		scores[i] += score
	}
	lower := strings.ToLower(strings.TrimSpace(query))
	for i, s := range specs {
		switch {
		case lower == "":
		case strings.Contains(strings.ToLower(s.ID), lower):
			scores[i] += 2
		case strings.Contains(strings.ToLower(s.Description), lower):
			scores[i] += 0.5
		}
	}
	order := make([]int, 0, len(specs))
	for i, score := range scores {
		if score > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), strings.Compare(specs[a].ID, specs[b].ID))
	})
	ranked := make([]*Spec, len(order))
	for i, at := range order {
		ranked[i] = specs[at]
	}
	return ranked
}

// toolIndex is what words the tools have, and how often, weighted.
type toolIndex struct {
	docs    []map[string]float64
	lengths []float64
	mean    float64
	holders map[string]int // word → tools that have it
}

func newToolIndex(specs []*Spec) *toolIndex {
	x := &toolIndex{holders: map[string]int{}}
	total := 0.0
	for _, s := range specs {
		doc, length := map[string]float64{}, 0.0
		for text, weight := range map[string]float64{s.ID: weightName, s.SearchHint: weightHint, s.Description: weightDescription} {
			for _, word := range toolWords(text) {
				doc[word] += weight
				length += weight
			}
		}
		for word := range doc {
			x.holders[word]++
		}
		x.docs, x.lengths = append(x.docs, doc), append(x.lengths, length)
		total += length
	}
	x.mean = max(total/float64(max(len(specs), 1)), 1)
	return x
}

// words scores the tools by the query's words: by BM25, and less where only some
// of them are there.
func (x *toolIndex) words(query string) []float64 {
	scores := make([]float64, len(x.docs))
	matched := make([]float64, len(x.docs))
	words := queryWords(query)
	for _, word := range words {
		best := make([]float64, len(x.docs))
		for term, weight := range x.expand(word) {
			for i := range x.docs {
				best[i] = max(best[i], weight*x.bm25(term, i))
			}
		}
		for i, score := range best {
			scores[i] += score
			if score > 0 {
				matched[i]++
			}
		}
	}
	for i := range scores {
		scores[i] *= 0.4 + 0.6*matched[i]/float64(max(len(words), 1))
	}
	return scores
}

// queryWords is the words of a query that count: each once, and no more than
// anybody would write.
func queryWords(query string) []string {
	const most = 32
	var words []string
	for _, w := range toolWords(head(query, 8<<10)) {
		if len(words) < most && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

func (x *toolIndex) bm25(term string, doc int) float64 {
	const k, b = 1.2, 0.75
	tf := x.docs[doc][term]
	if tf == 0 {
		return 0
	}
	n, with := float64(len(x.docs)), float64(x.holders[term])
	idf := math.Log(1 + (n-with+0.5)/(with+0.5))
	return idf * tf * (k + 1) / (tf + k*(1-b+b*x.lengths[doc]/x.mean))
}

// synonyms are short forms of words that tools write out.
var synonyms = map[string][]string{
	"k8s": {"kubernetes", "pod"}, "db": {"database", "sql"}, "pr": {"pull", "request"}, "repo": {"repository"},
	"doc": {"documentation", "document"}, "dir": {"directory", "folder"}, "msg": {"message"}, "img": {"image"},
	"ci": {"pipeline", "workflow"}, "env": {"environment"}, "auth": {"authentication", "login"},
	"picture": {"image", "screenshot"}, "photo": {"image"}, "folder": {"directory"},
}

// expand is the words of the index that a word of a query may mean, and how much
// each counts.
func (x *toolIndex) expand(word string) map[string]float64 {
	terms := map[string]float64{}
	for _, s := range synonyms[word] {
		terms[stem(s)] = weightPrefix
	}
	if x.holders[word] > 0 {
		terms[word] = 1
		return terms
	}
	letters := utf8.RuneCountInString(word)
	slips := 1 + letters/6
	for term := range x.holders {
		switch {
		case len(word) >= 3 && strings.HasPrefix(term, word), len(term) >= 4 && strings.HasPrefix(word, term):
			terms[term] = max(terms[term], weightPrefix)
		case letters >= 4 && letters <= maxTyped && distance(word, term, slips) <= slips:
			terms[term] = max(terms[term], weightTypo)
		}
	}
	return terms
}

// approximate scores names that have the query's letters in its order.
func approximate(query string, specs []*Spec) map[int]float64 {
	scores := map[int]float64{}
	squeezed := strings.ToLower(strings.Join(strings.Fields(query), ""))
	if len(squeezed) < 2 || len(squeezed) > 64 {
		return scores
	}
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.ID
	}
	for _, m := range fuzzy.Find(squeezed, names) {
		scores[m.Index] = min(max(float64(m.Score)/float64(20*len(squeezed)), 0), 1.5)
	}
	return scores
}

// stopWords say nothing of what a tool does.
var stopWords = map[string]bool{"a": true, "an": true, "and": true, "the": true, "of": true, "to": true, "in": true, "for": true, "on": true,
	"with": true, "is": true, "it": true, "or": true, "by": true, "from": true, "as": true, "be": true, "this": true, "that": true, "mcp": true}

// toolWords is the words of a name or text, in lower case and without endings.
func toolWords(text string) []string {
	var words []string
	begin, prev := -1, rune(0)
	runes := []rune(text)
	flush := func(end int) {
		if begin >= 0 {
			if w := stem(strings.ToLower(string(runes[begin:end]))); w != "" && !stopWords[w] {
				words = append(words, w)
			}
			begin = -1
		}
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
		case begin >= 0 && unicode.IsUpper(r) && unicode.IsLower(prev): // camelCase
			flush(i)
			begin = i
		case begin < 0:
			begin = i
		}
		prev = r
	}
	flush(len(runes))
	return words
}

// stem takes the commonest English endings off.
func stem(w string) string {
	for _, e := range []struct{ end, instead string }{{"ies", "y"}, {"sses", "ss"}, {"ing", ""}, {"ed", ""}, {"es", "e"}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(w, e.end); ok && len(stem) >= 3 && !strings.HasSuffix(w, "ss") {
			w = stem + e.instead
			break
		}
	}
	if len(w) > 4 {
		w = strings.TrimSuffix(w, "e") // as create, creating
	}
	return w
}
