// Golden answers for tests/model: what Kubernetes' own libraries say to the questions in the files there.
//
//	go run . ../../tests/model/golden
//
// Each row of a file starts with the question; the rest is asked again and written back. Rows that show an oddity of
// the libraries that Kubewright does not share are not in the files: the tests name those one by one.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

type row = []any

var families = map[resource.Format]string{
	resource.BinarySI: "binary", resource.DecimalSI: "decimal", resource.DecimalExponent: "exponent",
}

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: go run . FOLDER"))
	}
	sections := map[string]map[string]func(row) row{
		"quantity.json":  {"parse": quantity, "arithmetic": arithmetic},
		"times.json":     {"durations": duration, "percent": percent, "times": instant},
		"selectors.json": {"selectors": selector, "field_selectors": fieldSelector},
		"yaml.json":      {"documents": document},
	}
	for name, answers := range sections {
		path := filepath.Join(os.Args[1], name)
		text, err := os.ReadFile(path)
		fail(err)
		var file map[string][]json.RawMessage
		fail(json.Unmarshal(text, &file))
		if name == "selectors.json" {
			sets = nil
			for _, raw := range file["labels"] {
				set := labels.Set{}
				fail(json.Unmarshal(raw, &set))
				sets = append(sets, set)
			}
		}
		for section, answer := range answers {
			for i, raw := range file[section] {
				var question row
				fail(json.Unmarshal(raw, &question))
				file[section][i] = encode(answer(question))
			}
		}
		fail(os.WriteFile(path, layout(file), 0o644))
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func encode(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	fail(encoder.Encode(value))
	return bytes.TrimSpace(out.Bytes())
}

// layout writes one row a line, so that a change of one answer is a change of one line.
func layout(file map[string][]json.RawMessage) []byte {
	var sections [][]byte
	for _, section := range []string{
		"parse", "arithmetic", "durations", "percent", "times", "labels", "selectors", "field_selectors", "documents",
	} {
		rows, present := file[section]
		if !present {
			continue
		}
		var lines [][]byte
		for _, each := range rows {
			lines = append(lines, each)
		}
		sections = append(sections, fmt.Appendf(nil, "%q: [\n%s\n]", section, bytes.Join(lines, []byte(",\n"))))
	}
	return fmt.Appendf(nil, "{\n%s\n}\n", bytes.Join(sections, []byte(",\n")))
}

func nanos(q resource.Quantity) *big.Int {
	dec := new(inf.Dec).Round(q.AsDec(), 9, inf.RoundUp)
	return dec.UnscaledBig()
}

// quantity: text, canonical form, family, nanos, and for ordinary sizes the whole units and thousandths.
func quantity(question row) row {
	text := question[0].(string)
	parsed, err := resource.ParseQuantity(text)
	if err != nil {
		return row{text, nil}
	}
	number, suffix := parsed.CanonicalizeBytes(nil)
	answer := row{text, string(number) + string(suffix), families[parsed.Format], nanos(parsed).String()}
	if parsed.Sign() >= 0 && parsed.CmpInt64(9_000_000_000_000_000) < 0 {
		again := resource.MustParse(text)
		answer = append(answer, again.Value(), again.MilliValue())
	}
	return answer
}

// arithmetic: operator, left, right, result.
func arithmetic(question row) row {
	left, right := resource.MustParse(question[1].(string)), question[2].(string)
	switch question[0].(string) {
	case "+":
		left.Add(resource.MustParse(right))
	case "-":
		left.Sub(resource.MustParse(right))
	case "*":
		factor, err := strconv.ParseInt(right, 10, 64)
		fail(err)
		left.Mul(factor)
	}
	return append(question[:3:3], left.String())
}

// duration: text, nanoseconds, Go's form.
func duration(question row) row {
	parsed, err := time.ParseDuration(question[0].(string))
	if err != nil {
		return row{question[0], nil}
	}
	return row{question[0], strconv.FormatInt(int64(parsed), 10), parsed.String()}
}

// percent: value, total, whether to round up, result.
func percent(question row) row {
	var value intstr.IntOrString
	fail(json.Unmarshal(encode(question[0]), &value))
	result, err := intstr.GetScaledValueFromIntOrPercent(&value, int(question[1].(float64)), question[2].(bool))
	if err != nil {
		return append(question[:3:3], nil)
	}
	return append(question[:3:3], result)
}

// instant: text, as metav1.Time writes it.
func instant(question row) row {
	var parsed metav1.Time
	if err := json.Unmarshal(encode(question[0]), &parsed); err != nil {
		return row{question[0], nil}
	}
	return row{question[0], parsed}
}

var sets []labels.Set

// selector: text, as it is printed, and one letter for each set of labels: whether it matches.
func selector(question row) row {
	parsed, err := labels.Parse(question[0].(string))
	if err != nil {
		return row{question[0], nil}
	}
	matches := ""
	for _, set := range sets {
		if parsed.Matches(set) {
			matches += "y"
		} else {
			matches += "n"
		}
	}
	return row{question[0], parsed.String(), matches}
}

// fieldSelector: text, as it is printed.
func fieldSelector(question row) row {
	parsed, err := fields.ParseSelector(question[0].(string))
	if err != nil {
		return row{question[0], nil}
	}
	return row{question[0], parsed.String()}
}

// document: YAML, and what JSON it is; nothing where it is refused.
func document(question row) row {
	converted, err := yaml.YAMLToJSONStrict([]byte(question[0].(string)))
	if err != nil {
		return question[:1]
	}
	return row{question[0], json.RawMessage(converted)}
}
