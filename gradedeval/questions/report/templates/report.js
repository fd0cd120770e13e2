"use strict";
// Sorting, the choice of measure, topic and runs, and two rankings beside each other. All text goes in as text.
(() => {
  const byId = (id) => document.getElementById(id);
  const json = (id) => { const holder = byId(id); return holder ? JSON.parse(holder.textContent) : null; };
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const data = json("data");
  const view = { measure: 0, topic: data.topic, a: data.pair[0], b: data.pair[1] };

  function make(tag, attributes, ...children) {
    const node = tag === "svg" || tag === "path" || tag === "rect"
      ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) if (value !== null) node.setAttribute(name, value);
    node.append(...children.filter((child) => child !== null));
    return node;
  }

  // Sorting

  const NUMBER = /^[+\-−<]?(\d+|\d{1,3}(,\d{3})+)?(\.\d+)?%?\*?$/;
  const keyOf = (cell) => {
    const text = cell.dataset.v ?? cell.textContent.trim();
    if (text === "") return null;
    const number = cell.dataset.v !== undefined || NUMBER.test(text)
      ? Number(text.replace(/[%*,<+]/g, "").replace("−", "-")) : NaN;
    return Number.isFinite(number) ? number : text;
  };
  const compare = (one, other) => typeof one === "number" && typeof other === "number"
    ? one - other : String(one).localeCompare(String(other), undefined, { numeric: true });

  function sort(table, column, direction) {
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => [keyOf(row.cells[column]), row]);
    const sign = direction === "ascending" ? 1 : -1;
    keyed.sort(([one], [other]) => one === null || other === null
      ? (one === null) - (other === null) : sign * compare(one, other));
    body.append(...keyed.map(([, row]) => row));
    [...table.tHead.rows[0].cells].forEach((cell, index) => {
      if (index === column) cell.setAttribute("aria-sort", direction); else cell.removeAttribute("aria-sort");
    });
  }

  for (const table of all("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = make("button", { type: "button" });
      button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener("click", () => {
        const first = cell.classList.contains("left") ? "ascending" : cell.dataset.first || "descending";
        const other = first === "ascending" ? "descending" : "ascending";
        sort(table, column, cell.getAttribute("aria-sort") === first ? other : first);
      });
    });
  }

  // What is chosen

  const selects = { measure: byId("measure"), topic: byId("topic"), a: byId("a"), b: byId("b") };
  const fill = (select, names) => select && select.append(...names.map((name, index) => make("option", { value: index }, name)));
  fill(selects.measure, data.measures);
  const short = (text) => text.length > 40 ? text.slice(0, 39).trimEnd() + "…" : text;
  fill(selects.topic, data.topics.map((topic, index) => data.texts[index] ? `${topic}: ${short(data.texts[index])}` : topic));
  fill(selects.a, data.runs);
  fill(selects.b, data.runs);
  const names = { measure: data.measures, topic: data.topics, a: data.runs, b: data.runs };

  function choose(wanted) {
    const before = { ...view };
    for (const [name, value] of Object.entries(wanted)) {
      if (Number.isInteger(value) && value >= 0 && value < names[name].length && view[name] !== null) view[name] = value;
    }
    show(before);
    history.replaceState(null, "", "#" + Object.entries(view).filter(([, value]) => value !== null)
      .map(([name, value]) => `${name}=${encodeURIComponent(names[name][value])}`).join("&"));
  }

  for (const [name, select] of Object.entries(selects)) {
    if (select) select.addEventListener("change", () => choose({ [name]: Number(select.value) }));
  }
  byId("previous").addEventListener("click", () => choose({ topic: view.topic - 1 }));
  byId("next").addEventListener("click", () => choose({ topic: view.topic + 1 }));
  byId("choices").addEventListener("submit", (event) => event.preventDefault());

  // What the address names is chosen, and what is not on the page is said; a + in a name is a + and no blank.
  function fromAddress() {
    const asked = [...new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"))].filter(([name]) => name in names);
    const missing = asked.filter(([name, value]) => !names[name].includes(value));
    byId("missing").textContent = "Not on this page: " + missing.map(([name, value]) =>
      `${name.length === 1 ? "run" : name} ${value}`).join(", ");
    byId("missing").hidden = missing.length === 0;
    return Object.fromEntries(asked.map(([name, value]) => [name, names[name].indexOf(value)]));
  }
  const toRankings = (wanted) => { if (wanted.topic >= 0) byId("ranks").scrollIntoView(); };
  addEventListener("hashchange", () => {
    if (!location.hash.includes("=")) return;
    const wanted = fromAddress();
    choose(wanted);
    toRankings(wanted);
  });

  // Topics

  const links = all("[data-t]");
  const linksOf = new Map();
  for (const link of links) {
    link.tabIndex = -1;
    const topic = Number(link.dataset.t);
    if (!linksOf.has(topic)) linksOf.set(topic, []);
    linksOf.get(topic).push(link);
  }
  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  for (const table of all("[data-rove]")) {
    const heat = table.classList.contains("heat");
    table.addEventListener("keydown", (event) => {
      const link = event.target.closest("[data-t]");
      if (!link || !(event.key in STEPS)) return;
      event.preventDefault();
      const own = all("[data-t]", table);
      const next = own[Math.min(Math.max(own.indexOf(link) + STEPS[event.key], 0), own.length - 1)];
      choose({ topic: Number(next.dataset.t) });
      next.focus();
    });
    table.addEventListener("click", (event) => {
      const cell = event.target.closest("td, tbody th, thead th");
      if (!cell || event.target.closest("button")) return;
      event.preventDefault();
      const row = cell.parentElement;
      const topic = heat ? data.mapped[cell.cellIndex - 1] : Number(row.querySelector("[data-t]")?.dataset.t);
      if (!Number.isInteger(topic)) return;
      const wanted = { topic };
      const run = heat && row.parentElement === table.tBodies[0] ? [...table.tBodies[0].rows].indexOf(row) : view.a;
      if (run !== view.a) wanted.b = run;
      choose(wanted);
    });
    if (heat) table.addEventListener("mouseover", (event) => {
      const cell = event.target.closest("tbody td");
      if (!cell || cell.title) return;
      const topic = data.topics[data.mapped[cell.cellIndex - 1]];
      cell.title = `${cell.parentElement.cells[0].textContent}, topic ${topic}: ${cell.textContent || "no score"}`;
    });
  }

  function mark(topic, chosen) {
    for (const link of linksOf.get(topic) || []) {
      link.tabIndex = chosen ? 0 : -1;
      if (chosen) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
      link.closest(".heat th, .by-topic tr").classList.toggle("chosen", chosen);
    }
    const column = data.mapped.indexOf(topic) + 1;
    if (column) for (const row of all(".heat tbody tr")) row.cells[column].classList.toggle("chosen", chosen);
  }

  // A topic is brought into view in what scrolls around it, never the page itself.
  function reveal(link) {
    const box = link.closest(".scroll");
    if (!box || link.closest("[hidden]")) return;
    const place = link.closest("tr, th").getBoundingClientRect(), frame = box.getBoundingClientRect();
    if (link.closest("thead")) {
      if (place.left < frame.left + 220 || place.right > frame.right) box.scrollLeft += place.left - frame.left - frame.width / 2;
    } else if (place.top < frame.top + 60 || place.bottom > frame.bottom) box.scrollTop += place.top - frame.top - frame.height / 2;
  }

  let scores;
  const fixed = (value, digits = 4) => value === null || value === undefined ? "" : value.toFixed(digits);
  const signed = (value) => value === null ? "" : (value >= 0 ? "+" : "") + value.toFixed(4);

  // The columns of the two runs in the table of topics.
  function fillPair() {
    if (scores === undefined) scores = json("scores");
    if (!scores) return;
    all(".by-topic").forEach((table, measure) => {
      const one = scores[measure][view.a], other = view.b === null ? null : scores[measure][view.b];
      for (const cell of all("th[data-name=a], th[data-name=b]", table)) {
        cell.querySelector("bdi").textContent = data.runs[view[cell.dataset.name]];
      }
      for (const row of table.tBodies[0].rows) {
        const topic = Number(row.cells[0].firstElementChild.dataset.t), cells = row.cells;
        const values = [fixed(one[0][topic]), fixed(one[1][topic])];
        if (other) {
          const both = one[0][topic] !== null && other[0][topic] !== null;
          values.push(fixed(other[0][topic]), fixed(other[1][topic]), signed(both ? other[0][topic] - one[0][topic] : null));
        }
        values.forEach((value, index) => { cells[index + 1].textContent = value; });
      }
    });
  }

  // Rankings

  const gradeClass = (grade) => data.grades[String(grade)] || "gu";

  function ranking(run, other, documents, runs) {
    const own = runs[run], label = data.runs[run], measure = view.measure;
    const caption = make("caption", {}, make("b", {}, make("bdi", {}, label)));
    const table = make("table", {}, caption);
    if (!own) { caption.append(": the topic does not count for this run"); return table; }
    const [retrieved, listed, byMeasure] = own, [score, residual, rest, adds, could] = byMeasure[measure];
    caption.append(` · ${data.measures[measure]} ${fixed(score)}` + (residual === null ? "" : `, could rise by ${fixed(residual)}`)
      + ` · ${listed.length} of ${retrieved} documents`);
    const there = new Map(other === null || !runs[other] ? [] : runs[other][1].map((document, rank) => [document, rank + 1]));
    const beside = other !== null && runs[other];
    const deeper = beside && runs[other][0] > runs[other][1].length ? `> ${data.show}` : "–";
    const titles = ["rank", ...(beside ? ["other rank"] : []), "grade", "document", "adds", "could add"];
    const kinds = ["rank", ...(beside ? ["there"] : []), "judged", "doc", "adds", "could"];
    table.append(make("colgroup", {}, ...kinds.map((kind) => make("col", { class: kind }))),
      make("thead", {}, make("tr", {}, ...titles.map((title, index) =>
        make("th", { scope: "col", class: kinds[index] === "doc" ? "left" : null }, title)))));
    const most = Math.max(...runs.filter((one) => one).flatMap((one) => one[2][measure][3].map(Math.abs)), 1e-9);
    table.append(make("tbody", {}, ...listed.map((document, index) => {
      const [docno, grade] = documents[document];
      const said = [grade === null ? "" : `grade ${grade}`, gradeClass(grade) === "gu" ? "unjudged" : ""].filter(Boolean).join(", ");
      const width = `${Math.min(100, 100 * Math.abs(adds[index]) / most)}%`;
      return make("tr", { "data-d": document },
        make("th", { scope: "row" }, String(index + 1)),
        beside ? make("td", {}, there.has(document) ? String(there.get(document)) : deeper) : null,
        make("td", {}, make("i", { class: `grade ${gradeClass(grade)}`, title: said },
          grade === null ? "?" : String(grade)), gradeClass(grade) === "gu" ? make("span", { class: "sr" }, "unjudged") : null),
        make("td", { class: "doc", title: docno }, make("bdi", {}, docno)),
        make("td", { class: "adds" }, fixed(adds[index]),
          make("svg", { "aria-hidden": "true" }, make("rect", { width, height: 4, class: adds[index] < 0 ? "minus" : null }))),
        make("td", {}, fixed(could[index])));
    })));
    const foot = (title, value) => make("tr", {}, make("th", { colspan: titles.length - 2, scope: "row" }, title),
      make("td", {}, fixed(value)), make("td", {}));
    table.append(make("tfoot", {}, foot("what lies below, and the rest", rest), foot("score", score)));
    return table;
  }

  function light(document, lit) {
    for (const node of all(`[data-d="${CSS.escape(document)}"]`, byId("view"))) node.classList.toggle("lit", lit);
  }

  function drawLines() {
    const svg = byId("view").querySelector(".lines");
    if (!svg) return;
    svg.replaceChildren();
    const frame = svg.getBoundingClientRect();
    if (!frame.width) return;
    const [left, right] = all("table", byId("view"));
    const middle = (row) => { const box = row.getBoundingClientRect(); return box.top + box.height / 2 - frame.top; };
    const rows = new Map(all("tr[data-d]", right).map((row) => [row.dataset.d, row]));
    for (const row of all("tr[data-d]", left)) {
      const twin = rows.get(row.dataset.d);
      if (!twin) continue;
      const [from, to] = [middle(row), middle(twin)];
      svg.append(make("path", { d: `M2 ${from}C30 ${from} 40 ${to} 68 ${to}`, "data-d": row.dataset.d,
        class: row.querySelector(".g1, .g2, .g3, .g4") ? "relevant" : null }));
    }
    svg.setAttribute("height", Math.max(left.offsetHeight, right.offsetHeight));
  }

  function showRankings() {
    const found = json(`r${view.topic}`), place = byId("view");
    const text = data.texts[view.topic];
    const head = make("h3", {}, "Topic ", make("bdi", {}, data.topics[view.topic]),
      text ? make("small", { class: "query" }, make("bdi", {}, text)) : null);
    if (!found) {
      place.replaceChildren(head, make("p", {}, "The rankings of this topic are not on this page."));
      byId("said").textContent = place.textContent;
      return;
    }
    const [documents, runs] = found;
    const second = view.b === null || view.b === view.a ? null : view.b;
    place.replaceChildren(head, make("div", { class: second === null ? "beside one" : "beside" },
      ranking(view.a, second, documents, runs),
      second === null ? null : make("svg", { class: "lines", "aria-hidden": "true" }),
      second === null ? null : ranking(second, view.a, documents, runs)));
    byId("said").textContent = `Topic ${data.topics[view.topic]}: ` + [view.a, second].filter((run) => run !== null)
      .map((run) => `${data.runs[run]} ${runs[run] ? fixed(runs[run][2][view.measure][0]) : "does not count"}`).join(", ");
    drawLines();
  }
  for (const [type, lit] of [["mouseover", true], ["mouseout", false]]) {
    byId("view").addEventListener(type, (event) => {
      const row = event.target.closest("[data-d]");
      if (row) light(row.dataset.d, lit);
    });
  }
  addEventListener("resize", drawLines);

  // Everything that depends on what is chosen

  function show(before) {
    for (const [name, select] of Object.entries(selects)) if (select) select.value = view[name];
    byId("previous").disabled = view.topic === 0;
    byId("next").disabled = view.topic === data.topics.length - 1;
    for (const part of all("[data-measure]")) part.hidden = Number(part.dataset.measure) !== view.measure;
    if (!before || before.topic !== view.topic) { if (before) mark(before.topic, false); mark(view.topic, true); }
    if (before ? before.a !== view.a || before.b !== view.b : view.a !== data.pair[0] || view.b !== data.pair[1]) fillPair();
    for (const link of linksOf.get(view.topic) || []) reveal(link);
    showRankings();
  }

  // Paper shows what is folded.
  let folded = [];
  addEventListener("beforeprint", () => { folded = all("details:not([open])"); for (const one of folded) one.open = true; drawLines(); });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; drawLines(); });

  byId("choices").hidden = false;
  byId("grades").hidden = false;
  const wanted = fromAddress();
  Object.assign(view, Object.fromEntries(Object.entries(wanted).filter(([name, value]) => value >= 0 && view[name] !== null)));
  show(null);
  toRankings(wanted);
})();
