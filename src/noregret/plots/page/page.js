// The page: what was run, the ranking, curves, regret, confusion, classes, features, timing and warnings.

const report = JSON.parse(document.getElementById("report").textContent);
const learners = (report.learners || []).map((entry, place) => ({ ...entry, place, name: String(entry.name) }));
const shown = new Set(learners.slice(0, 8).map((entry) => entry.place));
const redraws = [];

function byLearner(title, entries, draw) {
  // A part of the page for one learner at a time, with a choice of the learner.
  const host = element("div");
  const act = (place) => host.replaceChildren(...draw(learners[place]));
  act(entries[0].place);
  if (learners.length === 1) return section(title, host);
  const options = entries.map((entry) => [entry.place, short(entry.name)]);
  return section(title, element("div", { class: "controls" }, choice("learner", options, (value) => act(Number(value)))), host);
}

// ---- what was run ---------------------------------------------------------------------------------------------------

function whatWasRun() {
  const source = report.source || {};
  const facts = [
    ["command", report.command ? element("code", {}, [].concat(report.command).join(" ")) : null],
    ["data", source.name],
    ["rounds", format(number(source.rounds), "count")],
    ["fingerprint", report.fingerprint ? element("code", {}, report.fingerprint) : report.command ? "none: the data came through a pipe" : null],
    ["task", report.task],
    ["seed", report.seed],
    ["version", `noregret ${report.noregret}`],
    ["written", report.written],
    ["train the best", report.train ? element("code", {}, report.train) : null],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
  const list = element("dl", {}, ...facts.flatMap(([name, value]) => [
    element("dt", {}, name), element("dd", {}, typeof value === "object" ? value : String(value))]));
  return section("What was run", list);
}

// ---- ranking --------------------------------------------------------------------------------------------------------

const MEASURES = [
  ["mistakes", "mistakes", "count"], ["rate", "mistake rate", "share"], ["balanced_accuracy", "balanced", "share"],
  ["cost", "cost", ""], ["loss", "loss", ""], ["mae", "MAE", ""], ["rmse", "RMSE", ""], ["r2", "R²", "share"],
  ["micro_f1", "micro F1", "share"], ["ranking_loss", "ranking loss", "share"], ["pair_accuracy", "pairs right", "share"],
  ["ndcg", "NDCG", "share"], ["ndcg_at_10", "NDCG@10", "share"], ["updates", "updates", "count"],
  ["nonzeros", "non-zeros", "count"], ["full_information", "full information", "count"], ["asked", "labels asked", "count"],
];

function ranking() {
  const hidden = report.targets ? ["mistakes", "rate"] : [];
  const columns = [
    { title: "#", value: (row) => row.place + 1, kind: "count" },
    { title: "learner", value: (row) => row.name, kind: "text", cell: nameCell },
  ];
  for (const [key, title, kind] of MEASURES) {
    const used = learners.some((row) => number(row[key]) !== null) && !hidden.includes(key);
    if (used) columns.push({ title, kind, value: (row) => (row.stopped ? null : number(row[key])) });
  }
  const held = report.targets ? "mae" : "rate";
  if (learners.some((row) => row.held_out && number(row.held_out[held]) !== null)) {
    columns.push({ title: report.targets ? "held out MAE" : "held out rate", kind: "share", value: (row) => number((row.held_out || {})[held]) });
  }
  const lastRegret = (row) => (row.regret && Array.isArray(row.regret.points) && row.regret.points[row.regret.points.length - 1]) || {};
  for (const [key, title] of [["regret", "regret"], ["bound", "regret bound"]]) {
    const used = learners.some((row) => number(lastRegret(row)[key]) !== null);
    if (used) columns.push({ title, kind: "", value: (row) => number(lastRegret(row)[key]) });
  }
  columns.push({ title: "seconds", kind: "seconds", value: (row) => number(row.seconds) });
  const mark = (row) => (row.stopped ? "stopped" : row.place === 0 ? "best" : "");
  const table = sortableTable("Every round is predicted before its label is seen. Headings sort.", columns, learners, mark);
  return section("Ranking", table, report.compare ? element("p", { class: "hint" }, `To compare: ${report.compare}`) : null);
}

function nameCell(row) {
  const stopped = row.stopped ? ` (stopped after ${format(row.rounds, "count")} rounds)` : "";
  return element("span", { class: "learner", title: row.name }, swatch(row.place), short(row.name) + stopped);
}

// ---- curves ---------------------------------------------------------------------------------------------------------

function legend(entries) {
  const buttons = entries.map((entry) => element("button", { type: "button", title: entry.name }, swatch(entry.place), short(entry.name)));
  const paint = () => buttons.forEach((button, at) => button.setAttribute("aria-pressed", shown.has(entries[at].place)));
  buttons.forEach((button, at) => button.addEventListener("click", () => {
    const { place } = entries[at];
    if (!shown.delete(place)) shown.add(place);
    redraws.forEach((redraw) => redraw());
  }));
  const all = element("button", { type: "button", onclick: () => {
    const every = entries.every((entry) => shown.has(entry.place));
    entries.forEach((entry) => (every ? shown.delete(entry.place) : shown.add(entry.place)));
    redraws.forEach((redraw) => redraw());
  } }, "all / none");
  redraws.push(paint);
  paint();
  return element("ul", { class: "legend", "aria-label": "learners in the charts" }, ...[...buttons, all].map((one) => element("li", {}, one)));
}

function curvePoints(entry, measure, recent) {
  const points = entry.curve.filter((point) => point && number(point.rounds) && number(point[measure]) !== null);
  if (!recent) return points.map((point) => [point.rounds, point[measure] / point.rounds]);
  return points.slice(1).map((point, at) => {
    const before = points[at];
    return [point.rounds, (point[measure] - before[measure]) / (point.rounds - before.rounds)];
  });
}

function curves() {
  const entries = learners.filter((entry) => Array.isArray(entry.curve) && entry.curve.length);
  if (!entries.length) return null;
  const chart = new Chart({ title: "Learning curves" });
  const state = { measure: report.targets ? "loss" : "mistakes", view: "all" };
  const redraw = () => {
    const lines = entries.filter((entry) => shown.has(entry.place))
      .map((entry) => ({ ...entry, points: curvePoints(entry, state.measure, state.view === "recent") }));
    const name = state.measure === "loss" ? "mean loss" : "mistake rate";
    chart.show(lines, `${name} ${state.view === "recent" ? "since the last point" : "so far"}`);
  };
  redraws.push(redraw);
  const set = (key) => (value) => { state[key] = value; redraw(); };
  const measures = [["mistakes", "mistake rate"], ["loss", "mean loss"]].filter(([name]) => name === "loss" || !report.targets);
  const controls = element("div", { class: "controls" }, choice("measure", measures, set("measure")),
    choice("view", [["all", "all rounds so far"], ["recent", "rounds since the last point"]], set("view")));
  const part = section("Learning curves", controls, chart.host, entries.length > 1 ? legend(entries) : null);
  requestAnimationFrame(redraw);
  return part;
}

// ---- regret ---------------------------------------------------------------------------------------------------------

// A theorem may bound something else than the regret, such as the updates: then `guarantee` has what was measured of it.
function ofOther(entry) {
  const { guarantee, points } = entry.regret;
  const own = points.some((point) => point && number(point.bound) !== null);
  return !own && guarantee && Array.isArray(guarantee.points) && guarantee.points.length ? guarantee : null;
}

function regretLines(entry, view) {
  const other = ofOther(entry);
  const [points, measured] = view === "theorem" && other ? [other.points, "measured"] : [entry.regret.points, "regret"];
  const line = (key) => points.filter((point) => point && number(point.rounds) && number(point[key]) !== null)
    .map((point) => [point.rounds, view === "average" ? point[key] / point.rounds : point[key]]);
  return [{ ...entry, points: line(measured) }, { ...entry, points: line("bound"), bound: true }].filter((one) => one.points.length);
}

function boundsAreFar(entries) {
  // Whether bounds would flatten the regret on a linear scale, and a logarithmic one can show both.
  const values = (key) => entries.flatMap((entry) => entry.regret.points).map((point) => number((point || {})[key])).filter((one) => one !== null);
  const [regrets, bounds] = [values("regret"), values("bound")];
  return bounds.length > 0 && Math.min(...regrets) > 0 && Math.max(...bounds) > 8 * Math.max(...regrets);
}

function describeRegret(entry) {
  const told = entry.regret;
  const last = told.points[told.points.length - 1];
  const gap = !last || number(last.gap) === null ? "" : `, found up to a gap of ${format(last.gap)}`;
  const theorem = told.guarantee ? `${told.guarantee.says} (${told.guarantee.when})` : told.says;
  return [
    `Loss: ${told.loss}. Comparator: ${told.comparator}${gap}.`,
    theorem ? `Theorem (dashed): ${theorem}` : null,
    told.why_no_bound ? `No bound: ${told.why_no_bound}` : null,
    ...[].concat(told.notes || []),
  ].filter(Boolean);
}

function sequences() {
  // The best learners one after the other, in hindsight, by the number of switches.
  return [].concat(report.sequences || []).filter((one) => one && Array.isArray(one.learners)).map((one) => {
    const parts = one.learners.map((part) => `${short(String(part.name))} from round ${format(number(part.from), "count")}`);
    const switches = `${one.switches} switch${one.switches === 1 ? "" : "es"}`;
    return element("p", { class: "hint" }, `Best in hindsight with ${switches}: ${report.targets ? "loss" : "mistakes"} ${format(number(one.loss))}; ${parts.join(", ")}`);
  });
}

function regret() {
  const entries = learners.filter((entry) => entry.regret && Array.isArray(entry.regret.points) && entry.regret.points.length);
  const without = learners.filter((entry) => entry.regret && entry.regret.why_not)
    .map((entry) => element("p", { class: "hint" }, `No regret of ${short(entry.name)}: ${entry.regret.why_not}`));
  without.push(...sequences());
  if (!entries.length) return without.length ? section("Regret", ...without) : null;
  const chart = new Chart({ title: "Regret" });
  const host = element("div");
  const state = { place: entries.length > 1 ? "all" : entries[0].place, view: "total", scale: boundsAreFar(entries) ? "log" : "linear" };
  const redraw = () => {
    const one = state.place === "all" ? null : learners[state.place];
    const drawn = one ? [one] : entries.filter((entry) => shown.has(entry.place) && (state.view !== "theorem" || ofOther(entry)));
    const bounded = state.view === "theorem" ? [...new Set(drawn.map(ofOther).filter(Boolean).map((other) => String(other.bounds)))] : [];
    const title = bounded.length ? bounded.join(", ") : state.view === "average" ? "regret per round" : "regret";
    chart.show(drawn.flatMap((entry) => regretLines(entry, state.view)), title, state.scale === "log");
    const told = one ? describeRegret(one) : ["Each learner by its own loss, against the best fixed weights in hindsight; bounds are dashed. Choose a learner to read its theorem."];
    host.replaceChildren(...told.map((text) => element("p", { class: "hint" }, text)), ...without);
  };
  redraws.push(redraw);
  const set = (key) => (value) => { state[key] = key === "place" && value !== "all" ? Number(value) : value; redraw(); };
  const views = [["total", "total"], ["average", "per round"]];
  if (entries.some(ofOther)) views.push(["theorem", "what the theorem bounds"]);
  const controls = element("div", { class: "controls" },
    choice("learner", [...(entries.length > 1 ? [["all", "all"]] : []), ...entries.map((entry) => [entry.place, short(entry.name)])], set("place")),
    choice("view", views, set("view")), choice("scale", [["linear", "linear"], ["log", "logarithmic"]], set("scale"), state.scale));
  const part = section("Regret against its bound", controls, chart.host, host);
  requestAnimationFrame(redraw);
  return part;
}

// ---- classes --------------------------------------------------------------------------------------------------------

function confusionTable(entry) {
  const { labels, counts, rounds } = entry.confusion;
  if (!counts) return [element("p", { class: "hint" }, `The matrix is left out: there are ${labels.length} classes.`)];
  const order = labels.map((_, at) => at).sort((a, b) => compare(labels[a], labels[b]));
  const heading = (at, scope) => element("th", { scope, class: scope === "row" ? "text" : null, title: String(labels[at]) }, String(labels[at]));
  const head = element("tr", {}, element("th", { class: "corner" }, "predicted \\ truth"), ...order.map((at) => heading(at, "col")));
  const rows = order.map((predicted) => element("tr", {}, heading(predicted, "row"), ...order.map((truth) => {
    const count = counts[truth][predicted];
    const share = rounds[truth] ? count / rounds[truth] : 0;
    const title = `${whole.format(count)} of ${whole.format(rounds[truth])} rounds of ${labels[truth]} predicted as ${labels[predicted]}`;
    const kind = `${truth === predicted ? "right" : "off"}${share > 0.55 ? " filled" : ""}`;
    const cell = element("td", { class: kind, title }, rounds[truth] ? share.toFixed(2) : "");
    cell.style.setProperty("--share", share);
    return cell;
  })));
  const table = element("table", { class: "heat" }, element("thead", {}, head), element("tbody", {}, ...rows));
  return [scrolling("Columns are true labels: the share of their rounds that was predicted as each label.", table)];
}

function classTable(entry) {
  const { labels, rounds, recall, precision, f1 } = entry.confusion;
  const rows = labels.map((label, at) => ({ label, rounds: rounds[at], recall: recall[at], precision: precision[at], f1: f1[at] }));
  rows.sort((a, b) => compare(a.label, b.label));
  const columns = [{ title: "class", kind: "text", value: (row) => row.label }, { title: "rounds", kind: "count", value: (row) => row.rounds },
    ...["recall", "precision", "f1"].map((key) => ({ title: key === "f1" ? "F1" : key, kind: "share", value: (row) => row[key] }))];
  return [sortableTable("Recall, precision and F1 of each class", columns, rows)];
}

function classes() {
  const entries = learners.filter((entry) => entry.confusion && entry.confusion.labels.length);
  if (!entries.length) return null;
  return element("div", { class: "pair" }, byLearner("Confusion", entries, confusionTable), byLearner("Classes", entries, classTable));
}

// ---- features, timing, warnings -------------------------------------------------------------------------------------

function features() {
  const entries = learners.filter((entry) => Array.isArray(entry.largest_weights) && entry.largest_weights.length);
  if (!entries.length) return null;
  return byLearner("Largest weights", entries, (entry) => {
    const parts = [...entry.largest_weights].sort((a, b) => compare(a.of, b.of));
    const host = element("div");
    const act = (at) => host.replaceChildren(barTable(
      parts[at].of === null ? "Weights of the features" : `Weights of the features, for ${parts[at].of}`,
      parts[at].weights.map(([name, value]) => ({ name: String(name), value, text: format(value) }))));
    act(0);
    if (parts.length === 1) return [host];
    const options = parts.map((part, at) => [at, String(part.of)]);
    return [element("div", { class: "controls" }, choice("class", options, (value) => act(Number(value)))), host];
  });
}

function timing() {
  const rows = learners.filter((entry) => number(entry.seconds)).sort((a, b) => a.seconds - b.seconds).map((entry) => ({
    name: entry.name, value: entry.seconds, place: entry.place,
    text: `${format(entry.seconds, "seconds")} s`, more: `${format(entry.rounds / entry.seconds, "count")} rounds/s` }));
  return rows.length ? section("Timing", barTable("Time of predicting and learning, without reading the data", rows)) : null;
}

function warnings() {
  const stopped = learners.filter((entry) => entry.stopped).map((entry) => ["warning", `${entry.name} could not go on: ${entry.stopped}`]);
  const told = [...(report.warnings || []).map((text) => ["warning", text]), ...stopped, ...(report.notes || []).map((text) => ["note", text])];
  if (report.interrupted) told.unshift(["warning", "stopped before all rows were read; these are the standings so far"]);
  if (!told.length) return section("Warnings and notes", element("p", {}, "none"));
  return section("Warnings and notes", element("ul", { class: "warnings" }, ...told.map(([kind, text]) => element("li", { class: kind }, text))));
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

document.getElementById("theme").addEventListener("click", switchTheme);

function attempt(make) {
  // A report that somebody edited may lack what a part needs; the other parts are shown nevertheless.
  try {
    return make();
  } catch (error) {
    return element("section", { class: "damaged" }, element("p", {}, `A part of this report cannot be shown: ${error.message}`));
  }
}

const pair = [features, timing].map(attempt).filter(Boolean);
document.querySelector("main").append(...[whatWasRun, ranking, curves, regret, classes].map(attempt).filter(Boolean),
  ...(pair.length ? [element("div", { class: "pair" }, ...pair)] : []), attempt(warnings));
