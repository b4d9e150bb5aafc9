// What a page shows, looked at from within a browser. Each function returns
// what is wrong as a list of texts.
const inspect = {
  // Charts of no size, or with nothing in them.
  charts() {
    const size = e => { const r = e.getBoundingClientRect(); return r.width + r.height };
    return [...document.querySelectorAll('main svg[role=img]')].filter(svg => {
      const drawn = [...svg.querySelectorAll('path, rect, line:not(.grid)')].some(e => size(e) > 0);
      const empty = svg.closest('.range') && /^(≥|n\/a|empty|withheld|not )/.test(svg.closest('.range').querySelector('.values').innerText);
      return size(svg) === 0 || !drawn && !svg.querySelector('.grid') || !drawn && !empty && !svg.closest('.range');
    }).map(svg => svg.getAttribute('aria-label'));
  },
  count() { return document.querySelectorAll('main svg[role=img]').length },
  // What makes the page wider than the window.
  wide() {
    if (document.documentElement.scrollWidth <= window.innerWidth) return [];
    return [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > window.innerWidth + 1 && !e.closest('.scroll, pre'))
      .map(e => e.tagName + '.' + e.className.toString() + ': ' + e.textContent.trim().slice(0, 40)).concat('the page is ' + document.documentElement.scrollWidth + ' wide');
  },
  // Texts with less contrast than WCAG 2 level AA wants: 4.5, or 3 where they
  // are large.
  contrast() {
    const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const rgba = color => { context.clearRect(0, 0, 1, 1); context.fillStyle = color; context.fillRect(0, 0, 1, 1); return context.getImageData(0, 0, 1, 1).data };
    const luminance = c => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
      const v = c[i] / 255;
      return sum + weight * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    }, 0);
    const behind = e => {
      for (; e; e = e.parentElement) {
        const c = rgba(getComputedStyle(e).backgroundColor);
        if (c[3] === 255) return c;
      }
      return [255, 255, 255, 255];
    };
    const weak = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const e = walker.currentNode.parentElement;
      if (!walker.currentNode.data.trim() || e.closest('title, style, script') || !e.getClientRects().length) continue;
      const style = getComputedStyle(e);
      const ink = luminance(rgba(e.closest('svg') ? style.fill : style.color)), paper = luminance(behind(e));
      const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
      const pixels = parseFloat(style.fontSize), large = pixels >= 24 || pixels >= 18.66 && style.fontWeight >= 700;
      if (ratio < (large ? 3 : 4.5)) weak.add(ratio.toFixed(2) + ': ' + walker.currentNode.data.trim().slice(0, 40));
    }
    return [...weak];
  },
  // Every element that a keyboard must reach, as texts in the page's order.
  name(e) { return e.tagName + ' ' + (e.getAttribute('href') || e.getAttribute('aria-label') || e.textContent).trim().slice(0, 60) },
  reachable() { return [...document.querySelectorAll('a[href], button, summary, [tabindex="0"]')].filter(e => e.checkVisibility()).map(this.name) },
  focused() {
    const e = document.activeElement;
    if (e === document.body) return '';
    const r = e.getBoundingClientRect(), style = getComputedStyle(e);
    const seen = r.width > 0 && r.right > 0 && (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0);
    return (seen ? '' : 'NOT SEEN ') + this.name(e);
  },
};
