// Numbers and units as people read them.

const digits = 6;

/** Six significant digits without trailing zeros; an exponent outside 1e-4 … 1e6. */
export function formatNumber(x: number | null | undefined): string {
  if (x === null || x === undefined || Number.isNaN(x)) return '–';
  if (!Number.isFinite(x)) return x > 0 ? '∞' : '-∞';
  if (x === 0) return '0';
  const size = Math.abs(Number(x.toPrecision(digits)));
  if (size >= 1e-4 && size < 1e6) return String(Number(x.toPrecision(digits)));
  return x.toExponential(digits - 1).replace(/\.?0+e/, 'e').replace('e+', 'e');
}

/** Labels of the ticks of one axis: just enough digits to tell the ticks apart. */
export function formatTicks(values: readonly (number | null)[]): string[] {
  const numbers = values.filter((v): v is number => v !== null && Number.isFinite(v));
  const largest = Math.max(0, ...numbers.map(Math.abs));
  let step = Infinity;
  for (let i = 1; i < numbers.length; ++i) step = Math.min(step, Math.abs(numbers[i] - numbers[i - 1]));
  if (!(step > 0) || step === Infinity) step = largest || 1;
  const exponential = largest > 0 && (largest < 1e-3 || largest >= 1e6);
  return values.map((v) => {
    if (v === null) return '';
    if (Math.abs(v) < step * 1e-6) return '0';
    if (!exponential) return v.toFixed(decimals(step));
    const power = Math.floor(Math.log10(Math.abs(v)) + 1e-9);
    return `${Number((v / 10 ** power).toFixed(decimals(step / 10 ** power)))}e${power}`;
  });
}

/** Decimals that multiples of a step need: 0.5 one, 0.25 two. */
function decimals(step: number): number {
  let n = Math.max(0, Math.min(10, -Math.floor(Math.log10(step) + 1e-9)));
  while (n < 10 && Math.abs(step * 10 ** n - Math.round(step * 10 ** n)) > 1e-6 * step * 10 ** n) ++n;
  return n;
}

/** "kg*m^2" → "kg·m²", "deg" → "°", "1" and "" → "". */
export function formatUnit(unit: string | undefined): string {
  if (!unit || unit === '1' || unit === '-') return '';
  const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';
  return unit
    .replace(/\bdeg\b/g, '°')
    .replace(/\^\(?(-?)(\d+)\)?/g, (_all, minus: string, n: string) =>
      (minus ? '⁻' : '') + [...n].map((d) => superscripts[Number(d)]).join(''))
    .replace(/\s*\*\s*/g, '·')
    .replace(/ /g, ' ');
}

/** "theta [rad]", or the name alone when there is no unit. */
export function labelled(name: string, unit: string | undefined): string {
  const u = formatUnit(unit);
  if (!u) return name;
  return name ? `${name} [${u}]` : `[${u}]`;
}

/** "1.25 rad/s" with six significant digits. */
export function formatQuantity(x: number | null | undefined, unit: string | undefined): string {
  const u = formatUnit(unit);
  const text = formatNumber(x);
  return u && text !== '–' ? `${text}${u === '°' ? '' : ' '}${u}` : text;
}

/** Time with as many decimals as the length of the run deserves. */
export function formatTime(t: number, length: number): string {
  const places = length > 0 ? Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(length)))) : 3;
  return t.toFixed(places);
}

const decade = (v: number): boolean => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9;

/** Powers of ten; where none or one is among the ticks, also 2 and 5 times these, or every tick when they are few. */
export function logTicks(splits: readonly (number | null)[]): string[] {
  const ticks = splits.filter((v): v is number => v !== null);
  const digits = ticks.length > 6 ? [1, 2, 5] : [1, 2, 3, 4, 5, 6, 7, 8, 9];
  const wanted = ticks.filter(decade).length > 1 ? decade : (v: number) => digits.length > 3 || digits.includes(Number(v.toExponential(0)[0]));
  return splits.map((v) => (v !== null && wanted(v) ? shortPower(v) : ''));
}

function shortPower(v: number): string {
  return v >= 1e-3 && v < 1e5 ? String(Number(v.toPrecision(6))) : v.toExponential().replace('e+', 'e');
}
