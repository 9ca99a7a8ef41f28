module github.com/clgrad/clgrad/scripts/livepage

go 1.26.0

replace github.com/clgrad/clgrad => ../..

require (
	github.com/chromedp/chromedp v0.22.1
	github.com/clgrad/clgrad v0.0.0
)

require (
	github.com/chromedp/cdproto v0.159.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	golang.org/x/time v0.14.0 // indirect
)
