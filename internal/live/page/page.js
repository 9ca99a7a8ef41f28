"use strict";
// Follows /events, which replays what has happened so far: reloading the page loses nothing.
const at = (id) => document.getElementById(id);
const points = [];
let run = {};

const events = new EventSource("events");
events.addEventListener("run", (e) => {
  run = JSON.parse(e.data);
  points.length = 0; // after a lost connection everything comes again
  at("name").textContent = run.image;
  document.title = run.image + " - mlpimage";
  at("about").textContent = `${run.width} × ${run.height} pixels on ${run.device}`;
  at("error-caption").textContent = `error × ${run.gain}`;
  document.body.style.setProperty("--aspect", run.width / run.height);
});
events.addEventListener("points", (e) => {
  points.push(...JSON.parse(e.data));
  const p = points[points.length - 1];
  const rate = p.step_us > 0 ? `, ${p.step_us < 1000 ? p.step_us.toFixed(0) + " µs" : (p.step_us / 1000).toFixed(2) + " ms"} per step` : "";
  at("status").textContent = `step ${p.step}${run.steps ? " of " + run.steps : ""}, loss ${p.loss.toPrecision(4)}` +
    (p.psnr_db === null ? "" : `, PSNR ${p.psnr_db.toFixed(2)} dB`) + `, learning rate ${p.lr.toPrecision(3)}${rate}, ${p.seconds.toFixed(0)} s`;
  draw("psnr", points.filter((q) => q.psnr_db !== null).map((q) => [q.step, q.psnr_db]), false);
  draw("loss", points.filter((q) => q.loss > 0).map((q) => [q.step, q.loss]), true);
});
events.addEventListener("picture", (e) => {
  const p = JSON.parse(e.data);
  at("reconstruction").src = "data:image/png;base64," + p.reconstruction;
  at("error").src = "data:image/png;base64," + p.error;
  at("reconstruction-caption").textContent = `reconstruction at step ${p.step}, ${p.psnr_db.toFixed(2)} dB`;
});
events.addEventListener("end", (e) => {
  events.close();
  at("status").textContent += ` (ended: ${JSON.parse(e.data)})`;
});
events.onerror = () => {
  if (events.readyState !== EventSource.CLOSED) at("status").textContent += " (connection lost)";
};

// ticks returns about n round numbers from low to high.
function ticks(low, high, n) {
  const raw = (high - low) / n || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const list = [];
  for (let v = Math.ceil(low / step) * step; v <= high * (1 + 1e-9); v += step) list.push(+v.toPrecision(12));
  return list;
}

// logTicks returns 1, 2 and 5 times powers of ten from low to high.
function logTicks(low, high) {
  const list = [];
  for (let p = Math.floor(Math.log10(low)); 10 ** p <= high; p++) {
    for (const m of [1, 2, 5]) if (m * 10 ** p >= low && m * 10 ** p <= high) list.push(+(m * 10 ** p).toPrecision(3));
  }
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
  for (const v of ticks(0, last, 5)) {
    nodes.push(node("line", { class: "grid", x1: x(v), x2: x(v), y1: top, y2: height - bottom }));
    nodes.push(node("text", { x: x(v), y: height - 6, "text-anchor": "middle" }, v));
  }
  nodes.push(node("polyline", { class: "curve", points: data.map((d) => x(d[0]).toFixed(1) + "," + y(d[1]).toFixed(1)).join(" ") }));
  svg.replaceChildren(...nodes);
}
