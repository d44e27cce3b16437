// Elements, numbers and sortable tables. Text of the data is set as text only, never read as HTML.

const COLOURS = 10;

function element(tag, attributes = {}, ...children) {
  const made = tag.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4))
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function number(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

const whole = new Intl.NumberFormat("en");

function format(value, kind) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  if (kind === "count") return whole.format(Math.round(value));
  if (kind === "share") return value.toFixed(4);
  if (kind === "seconds") return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e6 || size < 1e-3) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

function short(name) {
  // A long name with its middle left out: names of learners often differ at the end.
  return name.length <= 48 ? name : `${name.slice(0, 28)}…${name.slice(-18)}`;
}

function section(title, ...children) {
  const id = `s-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  return element("section", { "aria-labelledby": id }, element("h2", { id }, title), ...children.filter(Boolean));
}

function swatch(place) {
  return element("span", { class: `swatch fill-${place % COLOURS}`, "aria-hidden": "true" });
}

function choice(title, options, act, chosen = options[0][0]) {
  // A select with a label; options are [value, text].
  const select = element("select", { onchange: () => act(select.value) });
  select.append(...options.map(([value, text]) => element("option", { value, selected: value === chosen }, text)));
  return element("label", {}, title, select);
}

function compare(a, b) {
  const empty = (value) => value === null || value === undefined || value === "";
  if (empty(a) || empty(b)) return empty(a) - empty(b);
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

function scrolling(caption, table) {
  // A table below its caption; where it is too wide, it scrolls by itself.
  const region = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
  return element("div", {}, element("p", { class: "hint" }, caption), region);
}

// columns: {title, value(row), kind, cell(row)}; a click on a heading sorts by its values.
function sortableTable(caption, columns, rows, mark = () => "") {
  const body = element("tbody");
  const heads = columns.map((column) => {
    const head = element("th", { scope: "col", class: column.kind === "text" ? "text" : null });
    head.append(element("button", { type: "button", onclick: () => sort(column, head) }, column.title));
    return head;
  });
  function fill(ordered) {
    body.replaceChildren(...ordered.map((row) => element("tr", { class: mark(row) || null }, ...columns.map((column) => {
      const cell = element("td", { class: column.kind === "text" ? "name" : null });
      cell.append(column.cell ? column.cell(row) : format(column.value(row), column.kind));
      return cell;
    }))));
  }
  function sort(column, head) {
    const falling = head.getAttribute("aria-sort") === "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const ordered = [...rows].sort((a, b) => {
      const [one, two] = [column.value(a), column.value(b)];
      const gap = [one, two].some((value) => value === null || value === undefined || value === "");
      return gap || !falling ? compare(one, two) : compare(two, one); // what has no value comes last
    });
    fill(ordered);
  }
  fill(rows);
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body);
  return scrolling(caption, table);
}

function barTable(caption, rows) {
  // rows: {name, value, text, more, place}; bars are as long as their values, from the largest.
  const largest = Math.max(...rows.map((row) => Math.abs(row.value)), 1e-300);
  const body = element("tbody", {}, ...rows.map((row) => {
    const bar = element("div", { class: `bar${row.place === undefined ? (row.value < 0 ? " wrong" : "") : ` fill-${row.place % COLOURS}`}` });
    bar.style.width = `${(100 * Math.abs(row.value)) / largest}%`;
    return element("tr", {}, element("td", { class: "name", title: row.name }, short(row.name)), element("td", { class: "bars" }, bar), element("td", {}, row.text, row.more ? element("small", {}, row.more) : null));
  }));
  return scrolling(caption, element("table", {}, body));
}
