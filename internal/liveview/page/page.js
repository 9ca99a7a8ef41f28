"use strict";
// Follows /events, which replays what has happened so far: reloading the page loses nothing. Pictures are fetched apart.
const at = (id) => document.getElementById(id);
const points = [];
let run = {};

const events = new EventSource("events");
events.addEventListener("run", (e) => {
  run = JSON.parse(e.data);
  points.length = 0; // after a lost connection everything comes again
  shown = 0;
  at("name").textContent = run.image;
  document.title = run.image + " - mlpimage";
  at("about").textContent = `${run.width} × ${run.height} pixels on ${run.device}`;
  at("error-caption").textContent = `error × ${run.gain}`;
  for (const id of ["original", "reconstruction", "error"]) at(id).style.aspectRatio = `${run.width} / ${run.height}`;
  document.body.classList.toggle("small", Math.max(run.width, run.height) < 200);
});
events.addEventListener("points", (e) => {
  const known = points.length ? points[points.length - 1].step : -1; // history and news overlap
  points.push(...JSON.parse(e.data).filter((p) => p.step > known));
  if (points.length > 4000) points.splice(0, points.length, ...points.filter((_, i) => i % 2 === 0 || i === points.length - 1));
  redraw();
});

// Pictures come after each other: the next is fetched when the last is there, and those between are left out.
let shown = 0, newest = null, fetching = false, ended = null;
events.addEventListener("picture", (e) => {
  newest = JSON.parse(e.data);
  update();
});
events.addEventListener("end", (e) => {
  ended = JSON.parse(e.data);
  redraw();
  update();
});
async function update() {
  if (fetching) return;
  fetching = true;
  while (newest !== null && newest.version !== shown) {
    const p = newest;
    shown = p.version;
    try {
      await Promise.all(["reconstruction", "error"].map((id) => load(id, p.version)));
      at("reconstruction-caption").textContent = `reconstruction at step ${p.step.toLocaleString("en")}, ${p.psnr_db.toFixed(2)} dB`;
    } catch {
      if (ended === null) await new Promise((done) => setTimeout(done, 5000)); // the server is busy: the next one will do
    }
  }
  fetching = false;
  if (ended !== null) events.close();
}
async function load(id, version) {
  const r = await fetch(`${id}.png?v=${version}`);
  if (!r.ok) throw new Error(r.statusText);
  const old = at(id).src, url = URL.createObjectURL(await r.blob());
  at(id).src = url;
  await at(id).decode();
  if (old) URL.revokeObjectURL(old);
}

let lost = false;
events.onerror = () => { lost = ended === null; redraw(); };
events.onopen = () => { lost = false; redraw(); };
window.addEventListener("resize", () => redraw());

// redraw shows the last report and the curves, once a frame at most.
let due = false;
function redraw() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    status();
    draw("psnr", points.filter((q) => q.psnr_db !== null).map((q) => [q.step, q.psnr_db]), false);
    draw("loss", points.filter((q) => q.loss > 0).map((q) => [q.step, q.loss]), true);
  });
}
function status() {
  const state = lost ? "connection lost" : ended !== null ? `ended: ${ended}` : points.length ? "training" : "waiting for the first report";
  at("state").textContent = state;
  at("state").dataset.state = lost ? "lost" : ended !== null ? "ended" : "training";
  if (points.length === 0) return;
  const p = points[points.length - 1];
  const set = (id, text) => { at(id).textContent = text; };
  set("step", p.step.toLocaleString("en"));
  set("steps", p.steps ? `step of ${p.steps.toLocaleString("en")}` : "step");
  set("psnr-now", p.psnr_db === null ? "–" : `${p.psnr_db.toFixed(2)} dB`);
  set("loss-now", p.loss.toPrecision(4));
  set("rate", p.lr.toPrecision(3));
  set("pace", !(p.step_us > 0) ? "–" : p.step_us < 1000 ? `${p.step_us.toFixed(0)} µs` : `${(p.step_us / 1000).toFixed(2)} ms`);
  set("time", p.seconds < 60 ? `${p.seconds.toFixed(0)} s` : `${Math.floor(p.seconds / 60)} min ${Math.floor(p.seconds % 60)} s`);
  at("done").hidden = !p.steps;
  if (p.steps) { at("done").max = p.steps; at("done").value = p.step; }
}

// ticks returns about n round numbers from low to high.
function ticks(low, high, n) {
  const raw = (high - low) / n || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const list = [];
  for (let v = Math.ceil(low / step) * step; v <= high * (1 + 1e-9); v += step) list.push(+v.toPrecision(12));
  return list;
}

// logTicks returns 1, 2 and 5 times powers of ten from low to high; round numbers where there are no two of those.
function logTicks(low, high) {
  const list = [];
  for (let p = Math.floor(Math.log10(low)); 10 ** p <= high; p++) {
    for (const m of [1, 2, 5]) if (m * 10 ** p >= low && m * 10 ** p <= high) list.push(+(m * 10 ** p).toPrecision(3));
  }
  if (list.length < 2) return ticks(low, high, 4);
  return list.length > 8 ? list.filter((v) => Number.isInteger(Math.round(Math.log10(v) * 1e6) / 1e6)) : list;
}

// draw fills an svg with a curve of [x, y] and its axes.
function draw(id, data, logarithmic) {
  if (data.length === 0) return;
  const svg = at(id), width = svg.clientWidth, height = svg.clientHeight, left = 52, bottom = 22, top = 8, right = 12;
  const ys = data.map((d) => d[1]);
  let low = Math.min(...ys), high = Math.max(...ys);
  if (logarithmic) { low /= 1.1; high *= 1.1; } else { low -= 0.5; high += 0.5; }
  const last = Math.max(data[data.length - 1][0], 2);
  const scale = logarithmic ? Math.log : (v) => v;
  const x = (v) => left + (width - left - right) * v / last;
  const y = (v) => top + (height - top - bottom) * (1 - (scale(v) - scale(low)) / (scale(high) - scale(low)));
  const node = (name, attributes, text) => {
    const n = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [k, v] of Object.entries(attributes)) n.setAttribute(k, v);
    if (text !== undefined) n.textContent = text;
    return n;
  };
  const nodes = [];
  for (const v of logarithmic ? logTicks(low, high) : ticks(low, high, 5)) {
    nodes.push(node("line", { class: "grid", x1: left, x2: width - right, y1: y(v), y2: y(v) }));
    nodes.push(node("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, v));
  }
  for (const v of ticks(0, last, width < 420 ? 3 : 5)) {
    nodes.push(node("line", { class: "grid", x1: x(v), x2: x(v), y1: top, y2: height - bottom }));
    nodes.push(node("text", { x: x(v), y: height - 6, "text-anchor": v === 0 ? "start" : x(v) > width - 30 ? "end" : "middle" }, v.toLocaleString("en")));
  }
  nodes.push(node("polyline", { class: "curve", points: data.map((d) => x(d[0]).toFixed(1) + "," + y(d[1]).toFixed(1)).join(" ") }));
  svg.replaceChildren(...nodes);
}
