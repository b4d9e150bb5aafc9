"use strict";
// Shows one table at a time: the one that the address names behind its #, as
// #workload=cpu-only&durability=strict. The other tables are scripts in data/ that call
// tsmarkGroup, since a page that is opened from a folder may load scripts and nothing else.
(() => {
  const byID = id => document.getElementById(id);
  const data = JSON.parse(byID("data").textContent);
  const form = byID("filters"), place = byID("group"), status = byID("status");
  const tables = new Map([[data.shown, place.innerHTML]]);
  let wanted = data.shown, shown = data.shown;

  // choose returns the group that fits the wanted keys best, filter by filter; what each
  // filter offers; and what of the wanted there is not.
  function choose(keys) {
    let left = data.groups.map((_, n) => n);
    const missing = [];
    const offers = data.filters.map((filter, at) => {
      const values = [...new Set(left.map(n => data.groups[n][at]))].sort((a, b) => a - b);
      let value = values.find(v => filter.values[v].key === keys.get(filter.name));
      if (value === undefined) {
        if (keys.has(filter.name)) missing.push(filter.label.toLowerCase() + " “" + named(filter, keys.get(filter.name)) + "”");
        value = left.includes(data.shown) ? data.groups[data.shown][at] : values[0];
      }
      left = left.filter(n => data.groups[n][at] === value);
      return { values, value };
    });
    return { group: left[0], offers, missing };
  }

  function named(filter, key) {
    const known = filter.values.find(v => v.key === key);
    return known ? known.label : key;
  }

  function show(keys) {
    const { group, offers, missing } = choose(keys);
    data.filters.forEach((filter, at) => {
      const options = offers[at].values.map(v => new Option(filter.values[v].label, filter.values[v].key, false, v === offers[at].value));
      form.elements[filter.name].replaceChildren(...options);
    });
    status.textContent = missing.length ? "There are no such results with " + missing.join(" and ") + "; this is the nearest table." : "";
    load(group);
  }

  function load(group) {
    wanted = group;
    if (tables.has(group)) {
      put();
      return;
    }
    const script = document.createElement("script");
    script.src = "data/" + group + ".js";
    script.onerror = () => { status.textContent = script.src + " cannot be loaded: copy the whole folder of the site." };
    document.head.append(script);
  }

  function put() {
    if (wanted === shown) return;
    shown = wanted;
    place.innerHTML = tables.get(shown);
  }

  window.tsmarkGroup = (group, text) => {
    tables.set(group, text);
    if (group === wanted) put();
  };

  // keysOf are those of the address; null where it is a place in the page.
  function keysOf(hash) {
    return hash === "" || hash === "#" || hash.includes("=") ? new URLSearchParams(hash.slice(1)) : null;
  }

  form.addEventListener("change", () => { location.hash = "#" + new URLSearchParams(new FormData(form)) });
  window.addEventListener("hashchange", () => {
    const keys = keysOf(location.hash);
    if (keys) show(keys);
  });
  form.hidden = false;
  show(keysOf(location.hash) ?? new URLSearchParams());
})();
