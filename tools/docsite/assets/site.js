"use strict";
// The search and the menu of narrow screens. searchIndex comes with search.js, which is
// loaded once somebody searches.
let searchIndex = null;

(function () {
	const root = document.body.dataset.root;
	const form = document.querySelector(".search");
	const input = form.querySelector("input");
	const found = form.querySelector(".found");

	let loading = false;
	function load() {
		if (loading) return;
		loading = true;
		const script = document.createElement("script");
		script.src = root + "search.js";
		script.onload = show;
		document.head.append(script);
	}

	// score says how well an entry fits all words; 0: it lacks one.
	function score(entry, words) {
		let sum = 0;
		for (const word of words) {
			const page = entry.t.toLowerCase(), heading = entry.h.toLowerCase(), text = entry.x.toLowerCase();
			let best = 0;
			if (text.includes(word)) best = 1 + Math.min(4, text.split(word).length - 1) / 4;
			if (page.includes(word)) best += 4;
			if (heading.includes(word)) best += heading === word ? 20 : 8;
			if (best === 0) return 0;
			sum += best;
		}
		return sum;
	}

	// around is the text near the first of the words.
	function around(text, words) {
		const at = Math.max(0, Math.min(...words.map((w) => text.toLowerCase().indexOf(w)).map((i) => (i < 0 ? text.length : i))) - 50);
		const start = at >= text.length - 50 ? 0 : at;
		return (start > 0 ? "…" : "") + text.slice(start, start + 170) + (text.length > start + 170 ? "…" : "");
	}

	function show() {
		const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
		found.replaceChildren();
		found.hidden = words.length === 0 || searchIndex === null;
		if (found.hidden) return;
		const hits = searchIndex.map((entry) => [score(entry, words), entry]).filter(([n]) => n > 0);
		hits.sort((a, b) => b[0] - a[0]);
		for (const [, entry] of hits.slice(0, 20)) {
			const item = document.createElement("li");
			const link = document.createElement("a");
			link.href = root + entry.p;
			link.textContent = entry.h === "" || entry.h === entry.t ? entry.t : entry.t + " › " + entry.h;
			const text = document.createElement("p");
			text.textContent = around(entry.x, words);
			item.append(link, text);
			found.append(item);
		}
		if (hits.length === 0) {
			const none = document.createElement("li");
			none.textContent = "Nothing found. Fewer or shorter words find more.";
			found.append(none);
		}
	}

	input.addEventListener("focus", load);
	input.addEventListener("input", () => { load(); show(); });
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		const first = found.querySelector("a");
		if (first) location.href = first.href;
	});
	document.addEventListener("keydown", (event) => {
		if (event.key === "/" && !/input|textarea/i.test(event.target.tagName)) {
			event.preventDefault();
			input.focus();
		}
		if (event.key === "Escape") found.hidden = true;
	});
	document.addEventListener("click", (event) => { if (!form.contains(event.target)) found.hidden = true; });

	const menu = document.querySelector(".menu"), pages = document.querySelector("nav");
	menu.addEventListener("click", () => menu.setAttribute("aria-expanded", String(pages.classList.toggle("open"))));
	const current = pages.querySelector("[aria-current]");
	if (current) pages.scrollTop = current.offsetTop - pages.offsetTop - pages.clientHeight / 3;
})();
