"use strict";
// Shows one table at a time, and ranks its systems: the table that the address names behind its #,
// as #workload=cpu-only&durability=strict, without the systems and by the columns that it names. The
// other tables are scripts in data/ that call tsmarkGroup, since a page that is opened from a folder
// may load scripts and nothing else.
(() => {
  const byID = id => document.getElementById(id);
  const data = JSON.parse(byID("data").textContent);
  const form = byID("filters"), choice = byID("choice"), place = byID("group"), status = byID("status");
  const tables = new Map([[data.shown, place.innerHTML]]);
  let wanted = data.shown, shown = data.shown, chosen = new URLSearchParams(), order = {};

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
    chosen = keys;
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
    if (wanted !== shown) {
      shown = wanted;
      place.innerHTML = tables.get(shown);
    }
    rank();
  }

  const speed = (cell, rising) => rising ? 1 / cell.dataset.value : Number(cell.dataset.value); // less is better
  const times = v => (v >= 100 ? Math.round(v).toLocaleString("en") : v.toPrecision(3)) + "×";

  // rank colours the figures of the chosen systems, and orders these by the geometric mean of their
  // multiples of the best over the chosen columns, as the page itself does for all of them.
  function rank() {
    const table = place.querySelector("table"), rows = [...table.tBodies[0].rows], heads = [...table.tHead.rows[0].cells];
    const columns = heads.map((head, n) => ({ head, n, rising: "rising" in head.dataset, key: head.dataset.key })).slice(2);
    const without = rows.filter(row => chosen.getAll("without").includes(row.dataset.key));
    const named = columns.filter(column => chosen.getAll("by").includes(column.key));
    const ranked = named.length ? named : columns.filter(column => "ranked" in column.head.dataset);
    const left = rows.filter(row => !without.includes(row));
    for (const row of rows) {
      row.hidden = without.includes(row);
      row.logs = [];
    }
    for (const { n, rising } of columns) {
      const all = left.map(row => speed(row.cells[n], rising)).filter(v => v > 0);
      for (const row of left) {
        const cell = row.cells[n], v = speed(cell, rising) / Math.min(...all), compared = v > 0 && all.length > 1;
        row.logs[n] = compared ? Math.log10(v) : undefined;
        cell.classList.toggle("heat", compared);
        cell.style.setProperty("--heat", Math.round(100 * Math.min(1, row.logs[n] ?? 0)) + "%");
        const text = cell.querySelector(".times");
        if (!text || !(v > 0)) continue;
        text.dataset.all ??= text.textContent; // as compared with all systems
        text.textContent = !without.length ? text.dataset.all : compared ? times(v) : "";
      }
    }
    table.classList.toggle("some", without.length > 0);
    const complete = left.filter(row => { // logs[1]: of the ranking
      row.logs[1] = ranked.reduce((sum, { n }) => sum + row.logs[n], 0) / ranked.length;
      return row.logs[1] >= 0;
    });
    for (const row of left) row.cells[1].textContent = complete.length > 1 && row.logs[1] >= 0 ? times(10 ** row.logs[1]) : "–";
    heads[1].querySelector("small").textContent = "geometric mean of " + ranked.length + " of " + columns.length + " columns";
    offer(rows, without, columns, ranked);
    for (const [n, head] of heads.entries()) sortable(head, n, table);
    sort(table, order.of === shown ? order.n : 1);
  }

  // sort puts the rows in the order of a column, the best first; again, the best last.
  function sort(table, n, again) {
    const last = again && order.of === shown && order.n === n && !order.last;
    if (again) order = { of: shown, n, last };
    const down = order.of === shown && order.last ? -1 : 1, body = table.tBodies[0];
    const key = row => n === 0 ? row.dataset.key : row.logs[n];
    const missing = row => n > 0 && !(row.logs[n] >= 0);
    body.append(...[...body.rows].sort((a, b) => missing(a) - missing(b) || (missing(a) ? 0
      : n === 0 ? down * key(a).localeCompare(key(b), "en", { numeric: true }) : down * (key(a) - key(b)))));
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      if (at === n) head.setAttribute("aria-sort", down > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
  }

  function sortable(head, n, table) {
    if (head.querySelector("button")) return;
    const button = document.createElement("button"), name = head.querySelector("span");
    button.type = "button";
    button.textContent = name.textContent;
    button.addEventListener("click", () => sort(table, n, true));
    name.replaceChildren(button);
  }

  // offer shows the systems and columns of the table that can be chosen.
  function offer(rows, without, columns, ranked) {
    if (choice.dataset.of !== String(shown)) {
      choice.dataset.of = shown;
      const set = (name, title, keys) => {
        const all = document.createElement("fieldset"), legend = document.createElement("legend");
        legend.textContent = title;
        all.append(legend, ...keys.map(key => {
          const label = document.createElement("label"), box = document.createElement("input");
          Object.assign(box, { type: "checkbox", name, value: key });
          label.append(box, " " + key);
          return label;
        }));
        return all;
      };
      choice.replaceChildren(choice.firstElementChild, set("without", "Systems", rows.map(row => row.dataset.key)), set("by", "Ranked by", columns.map(column => column.key)));
    }
    const on = { without: rows.filter(row => !without.includes(row)).map(row => row.dataset.key), by: ranked.map(column => column.key) };
    for (const box of choice.querySelectorAll("input")) box.checked = on[box.name].includes(box.value);
  }

  window.tsmarkGroup = (group, text) => {
    tables.set(group, text);
    if (group === wanted) put();
  };

  // keysOf are those of the address; null where it is a place in the page.
  function keysOf(hash) {
    return hash === "" || hash === "#" || hash.includes("=") ? new URLSearchParams(hash.slice(1)) : null;
  }

  form.addEventListener("change", event => {
    const keys = new URLSearchParams();
    for (const { name } of data.filters) keys.set(name, form.elements[name].value);
    const ranked = event.target.name === "by" || chosen.has("by");
    for (const { name, value, checked } of choice.querySelectorAll("input")) {
      if (name === "without" ? !checked : ranked && checked) keys.append(name, value);
    }
    location.hash = "#" + keys;
  });
  window.addEventListener("hashchange", () => {
    const keys = keysOf(location.hash);
    if (keys) show(keys);
  });
  form.hidden = false;
  show(keysOf(location.hash) ?? new URLSearchParams());
})();
