// Curves, bands and marks of a plot, thinned to what the pixels can show.
import uPlot from 'uplot';
import type { Chart, Map1, Range } from './chart.ts';
import { decimate } from './decimate.ts';
import { fade } from './theme.ts';
import type { AxisScale, Numbers, PlotSeries } from './types.ts';

type Context = CanvasRenderingContext2D;

/** Adds the line through the chosen samples to the path; a gap where a value is missing. */
function follow(ctx: Context, chosen: Uint32Array, xs: Numbers, ys: Numbers, mx: Map1, my: Map1): void {
  let drawing = false;
  for (const i of chosen) {
    const [x, y] = [mx(xs[i]), my(ys[i])];
    if (!Number.isFinite(x) || !Number.isFinite(y)) drawing = false;
    else if (drawing) ctx.lineTo(x, y);
    else {
      ctx.moveTo(x, y);
      drawing = true;
    }
  }
}

export function drawBand(chart: Chart, s: PlotSeries, color: string, axis: number, x: Range, xScale: AxisScale): void {
  if (!s.low || !s.high) return;
  const { ctx, bbox } = chart.u;
  const [mx, my] = [chart.mapX(), chart.mapY(axis)];
  const border = (values: Numbers): [number, number][] =>
    [...decimate(s.x, values, x[0], x[1], bbox.width, xScale === 'log')]
      .map((i): [number, number] => [mx(s.x[i]), my(values[i])])
      .filter(([px, py]) => Number.isFinite(px) && Number.isFinite(py));
  ctx.beginPath();
  for (const [px, py] of [...border(s.high), ...border(s.low).reverse()]) ctx.lineTo(px, py);
  ctx.closePath();
  ctx.fillStyle = fade(color, 0.17);
  ctx.fill();
}

export function drawCurve(
  chart: Chart, s: PlotSeries, color: string, dash: number[], axis: number, x: Range, xScale: AxisScale,
): void {
  const { ctx, bbox } = chart.u;
  const ratio = uPlot.pxRatio;
  const [mx, my] = [chart.mapX(), chart.mapY(axis)];
  const chosen = decimate(s.x, s.data, x[0], x[1], bbox.width, xScale === 'log');
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.lineJoin = 'round';
  ctx.lineCap = 'butt';
  if (!s.points) {
    ctx.beginPath();
    follow(ctx, chosen, s.x, s.data, mx, my);
    ctx.setLineDash(dash.map((d) => d * ratio));
    ctx.lineWidth = 1.5 * ratio;
    ctx.stroke();
    ctx.setLineDash([]);
  }
  // Samples show as dots when they are far enough apart to tell them from the line.
  const apart = chosen.length > 1 ? bbox.width / chosen.length / ratio : Infinity;
  if (!s.points && apart < 14) return;
  const radius = (s.points ? 2.5 : 2) * ratio;
  ctx.beginPath();
  for (const i of chosen) {
    const [px, py] = [mx(s.x[i]), my(s.data[i])];
    if (!Number.isFinite(px) || !Number.isFinite(py)) continue;
    ctx.moveTo(px + radius, py);
    ctx.arc(px, py, radius, 0, 2 * Math.PI);
  }
  ctx.fill();
}
