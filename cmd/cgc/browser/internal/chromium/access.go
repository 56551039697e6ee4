package chromium

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// Heard is an element of the page as a screen reader announces it.
type Heard struct{ Role, Name, Description string }

// Heard returns the elements that a screen reader announces, in the order of the page.
func (p *Page) Heard() (all []Heard) {
	p.t.Helper()
	type value struct {
		Value any `json:"value"`
	}
	var tree struct {
		Nodes []struct {
			Ignored     bool  `json:"ignored"`
			Role        value `json:"role"`
			Name        value `json:"name"`
			Description value `json:"description"`
		} `json:"nodes"`
	}
	p.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		return cdp.Execute(ctx, accessibility.CommandGetFullAXTree, nil, &tree)
	}))
	text := func(v value) string {
		if v.Value == nil {
			return ""
		}
		return fmt.Sprint(v.Value)
	}
	for _, n := range tree.Nodes {
		if !n.Ignored {
			all = append(all, Heard{text(n.Role), text(n.Name), text(n.Description)})
		}
	}
	return all
}

// contrasts finds the text with the lowest contrast to its background, by the formula of WCAG 2. It expands collapsed
// parts.
const contrasts = `(() => {
	const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, k) =>
		sum + weight * (c[k] <= 10 ? c[k] / 255 / 12.92 : ((c[k] / 255 + 0.055) / 1.055) ** 2.4), 0);
	const contrast = (a, b) => {
		const [x, y] = [light(a), light(b)].sort((u, v) => v - u);
		return (x + 0.05) / (y + 0.05);
	};
	const rgb = (text) => (text.match(/[\d.]+/g) || []).map(Number);
	const ground = (e) => {
		for (; e; e = e.parentElement) {
			const c = rgb(getComputedStyle(e).backgroundColor);
			if (c.length === 3 || c[3] > 0.99) return c;
		}
		return [255, 255, 255];
	};
	window.contrasts = { contrast, rgb };
	document.querySelectorAll('details').forEach((d) => { d.open = true; });
	let worst = { ratio: 99, text: '' };
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		const e = n.parentElement;
		if (!n.textContent.trim() || ['SCRIPT', 'NOSCRIPT'].includes(e.tagName) || !e.checkVisibility()) continue;
		const ratio = contrast(rgb(getComputedStyle(e).color), ground(e));
		if (ratio < worst.ratio) worst = { ratio, text: n.textContent.trim().slice(0, 40) };
	}
	return worst;
})()`

// LeastContrast returns the lowest contrast ratio (WCAG 2) between a text and its background, and that text. It expands
// collapsed parts.
func (p *Page) LeastContrast() (ratio float64, text string) {
	p.t.Helper()
	var worst struct {
		Ratio float64
		Text  string
	}
	p.Eval(contrasts, &worst)
	return worst.Ratio, worst.Text
}
