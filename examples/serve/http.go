package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/serve"
)

// most is the largest request: far more than 64 numbers need.
const most = 16 << 10 // bytes

// patience is how long a request waits: longer than a full queue takes.
const patience = 5 * time.Second

// handler answers POST /predict, whose body is {"pixels": [64 numbers from 0 to 16, row by row]},
// with the digit and the probabilities of all ten, GET /metrics with what Prometheus reads, and
// everything else with {"error": "…"} and a status that says whose fault it is.
func handler(p *serve.Predictor, patience time.Duration) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/predict", func(w http.ResponseWriter, r *http.Request) { predict(w, r, p, patience) })
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_ = serve.WriteMetrics(w, p) // a client that has left does not read it
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "there is nothing here: POST pictures to /predict")
	})
	return mux
}

func predict(w http.ResponseWriter, r *http.Request, p *serve.Predictor, patience time.Duration) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "send a picture with POST, not "+r.Method)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is larger than %d bytes", most))
		case errors.Is(err, os.ErrDeadlineExceeded):
			refuse(w, http.StatusRequestTimeout, "the request came too slowly")
		default: // the connection broke off: nobody reads this
			refuse(w, http.StatusBadRequest, "the request ends too soon")
		}
		return
	}
	image, err := parse(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	outputs, err := p.Predict(ctx, picture(image))
	switch {
	case err == nil:
		probabilities := data.Elements[float32](outputs[0])
		digit := slices.Index(probabilities, slices.Max(probabilities))
		reply(w, http.StatusOK, map[string]any{"digit": digit, "probabilities": probabilities})
	case errors.Is(err, serve.ErrFull):
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "too many requests wait: try again in a second")
	case errors.Is(err, context.DeadlineExceeded):
		refuse(w, http.StatusGatewayTimeout, fmt.Sprintf("there was no answer in %v", patience))
	default:
		refuse(w, http.StatusInternalServerError, "the device failed")
	}
}

// parse returns the pixels of a request.
func parse(body []byte) ([]float32, error) {
	var sent struct{ Pixels []*float64 } // pointers distinguish null from 0
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&sent); err != nil {
		return nil, fmt.Errorf(`the request is not {"pixels": [64 numbers]} in JSON: %v`, wrong(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	if len(sent.Pixels) != pixels {
		return nil, fmt.Errorf("there are %d pixels, and a picture has %d", len(sent.Pixels), pixels)
	}
	image := make([]float32, pixels)
	for i, v := range sent.Pixels {
		if v == nil || !(*v >= 0 && *v <= 16) {
			return nil, fmt.Errorf("pixel %d is not a number from 0 to 16", i)
		}
		image[i] = float32(*v)
	}
	return image, nil
}

// wrong says where JSON is not what it should be.
func wrong(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("it is no JSON at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Sprintf("%s at byte %d does not belong there", kind.Value, kind.Offset)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too soon"
	}
	return "it has another field"
}

func refuse(w http.ResponseWriter, status int, why string) {
	reply(w, status, map[string]any{"error": why})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has left does not read it
}
