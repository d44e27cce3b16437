// A line chart with a logarithmic axis of rounds, drawn as wide as its place, with values at the cursor.

const MARGIN = { left: 58, right: 14, top: 12, bottom: 42 };
const FIRST = 8;

function linearTicks(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  const ticks = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + 1e-9 * step; at += 1) ticks.push(at * step);
  return ticks;
}

function logTicks(low, high, most) {
  const ticks = [];
  const decades = Math.log10(high / low);
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const factor of decades < 2.5 ? [1, 2, 5] : [1]) ticks.push(factor * 10 ** power);
  }
  const inside = ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  const every = Math.ceil(inside.length / most);
  return inside.filter((_, place) => place % every === 0);
}

function shortNumber(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return size !== 0 && size < 1e-3 ? value.toExponential(0) : String(Number(value.toPrecision(3)));
}

class Chart {
  // options: {title, yTitle}; lines: {name, place, points: [[rounds, value]], bound}
  constructor(options) {
    this.options = options;
    this.lines = [];
    this.logarithmic = false;
    this.at = null;
    this.tooltip = element("div", { class: "tooltip", role: "status", hidden: true });
    this.host = element("div", { class: "chart" }, this.tooltip);
    new ResizeObserver(() => this.resize()).observe(this.host);
  }

  show(lines, yTitle, logarithmic = false) {
    // The first few rounds, where means are wild, are left out where there are many.
    const last = Math.max(...lines.flatMap((line) => line.points.map(([n]) => n)));
    const first = last >= 8 * FIRST ? FIRST : 1;
    this.lines = lines.map((line) => ({ ...line, points: line.points.filter(([n]) => n >= first) }));
    Object.assign(this, { yTitle, logarithmic, at: null });
    this.draw();
  }

  resize() {
    const width = Math.round(this.host.clientWidth);
    if (width && width !== this.width) this.draw();
  }

  limits() {
    const points = this.lines.flatMap((line) => line.points);
    const rounds = points.map(([n]) => n);
    const last = Math.max(...rounds);
    const later = points.map(([, value]) => value);
    if (this.logarithmic) {
      const above = later.filter((value) => value > 0);
      return { x: [Math.min(...rounds), last], y: [Math.min(...above), 1.2 * Math.max(...above)] };
    }
    const [low, high] = [Math.min(0, ...later), Math.max(0, ...later)];
    return { x: [Math.min(...rounds), last], y: [1.05 * low, high > low ? 1.05 * high : 1] };
  }

  draw() {
    this.width = Math.max(Math.round(this.host.clientWidth), 240);
    this.height = Math.round(Math.min(380, Math.max(230, this.width * 0.45)));
    this.hide();
    if (this.svg) this.svg.remove();
    this.svg = element("svg:svg", {
      viewBox: `0 0 ${this.width} ${this.height}`, tabindex: "0", role: "img",
      "aria-label": `${this.options.title}: ${this.yTitle} against rounds. Arrow keys read the values.`,
    });
    this.host.prepend(this.svg);
    if (!this.lines.some((line) => line.points.length)) {
      this.svg.append(element("svg:text", { x: this.width / 2, y: this.height / 2, "text-anchor": "middle" }, "nothing to draw"));
      return;
    }
    const { x, y } = this.limits();
    const wide = this.width - MARGIN.left - MARGIN.right;
    const tall = this.height - MARGIN.top - MARGIN.bottom;
    const first = Math.log(x[0]);
    const span = Math.log(x[1]) - first || 1;
    const scale = this.logarithmic ? Math.log : (value) => value;
    const [bottom, top] = y.map(scale);
    this.toX = (n) => MARGIN.left + (wide * (Math.log(n) - first)) / span;
    this.toY = (value) => MARGIN.top + tall * (1 - (scale(value) - bottom) / (top - bottom || 1));
    this.drawAxes(x, y, wide, tall);
    this.drawLines(wide, tall);
    this.listen();
  }

  drawAxes(x, y, wide, tall) {
    const floor = MARGIN.top + tall;
    for (const tick of logTicks(x[0], x[1], Math.max(3, wide / 70))) {
      const at = this.toX(tick);
      this.svg.append(element("svg:line", { class: "grid", x1: at, x2: at, y1: MARGIN.top, y2: floor }));
      this.svg.append(element("svg:text", { x: at, y: floor + 17, "text-anchor": "middle" }, shortNumber(tick)));
    }
    for (const tick of this.logarithmic ? logTicks(y[0], y[1], 6) : linearTicks(y[0], y[1], 5)) {
      const at = this.toY(tick);
      this.svg.append(element("svg:line", { class: "grid", x1: MARGIN.left, x2: MARGIN.left + wide, y1: at, y2: at }));
      this.svg.append(element("svg:text", { x: MARGIN.left - 8, y: at + 4, "text-anchor": "end" }, shortNumber(tick)));
    }
    this.svg.append(element("svg:text", { x: MARGIN.left + wide / 2, y: this.height - 6, "text-anchor": "middle" }, "rounds"));
    const turned = `rotate(-90 14 ${MARGIN.top + tall / 2})`;
    this.svg.append(element("svg:text", { x: 14, y: MARGIN.top + tall / 2, "text-anchor": "middle", transform: turned }, this.yTitle));
  }

  drawLines(wide, tall) {
    Chart.made = (Chart.made || 0) + 1;
    const id = `clip-${Chart.made}`;
    const frame = element("svg:rect", { x: MARGIN.left, y: MARGIN.top - 2, width: wide + 2, height: tall + 4 });
    const group = element("svg:g", { "clip-path": `url(#${id})` });
    this.svg.append(element("svg:clipPath", { id }, frame), group);
    for (const line of [...this.lines].reverse()) {
      const points = line.points.filter(([, value]) => !this.logarithmic || value > 0);
      if (!points.length) continue;
      if (points.length === 1) {
        const [[n, value]] = points;
        group.append(element("svg:circle", { class: `line colour-${line.place % COLOURS}`, cx: this.toX(n), cy: this.toY(value), r: 3 }));
        continue;
      }
      const path = points.map(([n, value]) => `${this.toX(n).toFixed(1)},${Math.max(-1e5, Math.min(1e5, this.toY(value))).toFixed(1)}`);
      const kind = line.bound ? " bound" : line.place >= COLOURS ? " later" : "";
      group.append(element("svg:polyline", { class: `line colour-${line.place % COLOURS}${kind}`, points: path.join(" ") }));
    }
    this.cursor = element("svg:line", { class: "cursor", y1: MARGIN.top, y2: MARGIN.top + tall, visibility: "hidden" });
    this.svg.append(this.cursor);
  }

  // ---- values at the cursor ---------------------------------------------------------------------------------------

  listen() {
    this.rounds = [...new Set(this.lines.flatMap((line) => line.points.map(([n]) => n)))].sort((a, b) => a - b);
    this.svg.addEventListener("pointermove", (event) => {
      const box = this.svg.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * this.width;
      const gaps = this.rounds.map((n) => Math.abs(this.toX(n) - at));
      this.read(gaps.indexOf(Math.min(...gaps)));
    });
    this.svg.addEventListener("pointerleave", () => this.hide());
    this.svg.addEventListener("blur", () => this.hide());
    this.svg.addEventListener("keydown", (event) => {
      const last = this.rounds.length - 1;
      const from = this.at ?? last;
      const step = { ArrowLeft: Math.max(0, from - 1), ArrowRight: Math.min(last, from + 1), Home: 0, End: last }[event.key];
      if (event.key === "Escape") this.hide();
      if (step === undefined) return;
      event.preventDefault();
      this.read(step);
    });
  }

  read(at) {
    this.at = at;
    const n = this.rounds[at];
    const found = this.lines
      .map((line) => ({ line, value: (line.points.find((point) => point[0] === n) || [])[1] }))
      .filter(({ value }) => value !== undefined)
      .sort((a, b) => a.value - b.value);
    const rows = found.slice(0, 12).map(({ line, value }) => element("tr", {},
      element("td", { class: "name" }, swatch(line.place), line.bound ? `${short(line.name)} (bound)` : short(line.name)),
      element("td", {}, format(value))));
    const more = found.length > 12 ? element("p", { class: "hint" }, `and ${found.length - 12} more`) : null;
    const head = element("strong", {}, `${whole.format(n)} round${n === 1 ? "" : "s"}`);
    this.tooltip.replaceChildren(head, element("table", {}, element("tbody", {}, ...rows)), ...(more ? [more] : []));
    this.tooltip.hidden = false;
    const x = (this.toX(n) / this.width) * this.host.clientWidth;
    this.cursor.setAttribute("x1", this.toX(n));
    this.cursor.setAttribute("x2", this.toX(n));
    this.cursor.setAttribute("visibility", "visible");
    const room = this.host.clientWidth - this.tooltip.offsetWidth;
    const right = x + 14 <= room;
    this.tooltip.style.left = `${Math.max(0, Math.min(room, right ? x + 14 : x - 14 - this.tooltip.offsetWidth))}px`;
  }

  hide() {
    this.at = null;
    this.tooltip.hidden = true;
    if (this.cursor) this.cursor.setAttribute("visibility", "hidden");
  }
}
