// Light and dark. Colours are custom properties of style.css; drawings on canvas read them here.

export interface Colors {
  surface: string;
  text: string;
  muted: string;
  grid: string;
  line: string;
  accent: string;
  ground: string;
  pin: string;
  pinFill: string;
  spring: string;
  force: string;
  sensor: string;
  desired: string;
  bodies: string[];
  series: string[];
  ghosts: string[];
}

const listeners: (() => void)[] = [];
const preferred = matchMedia('(prefers-color-scheme: dark)');
let chosen: 'light' | 'dark' | null = null;
let printing = false;
let cache: Colors | null = null;

export const currentTheme = (): 'light' | 'dark' => (printing ? 'light' : chosen ?? (preferred.matches ? 'dark' : 'light'));

function refresh(): void {
  document.documentElement.dataset.theme = currentTheme();
  cache = null;
  for (const listener of listeners) listener();
}

export function startTheme(): void {
  preferred.addEventListener('change', refresh);
  refresh();
}

export const onThemeChange = (listener: () => void): void => void listeners.push(listener);

export function toggleTheme(): void {
  chosen = currentTheme() === 'dark' ? 'light' : 'dark';
  refresh();
}

export const isPrinting = (): boolean => printing;

/** Paper is white. */
export function setPrinting(on: boolean): void {
  if (printing === on) return;
  printing = on;
  refresh();
}

export function colors(): Colors {
  if (cache) return cache;
  const style = getComputedStyle(document.documentElement);
  const get = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const several = (name: string, n: number): string[] => Array.from({ length: n }, (_, k) => get(`${name}-${k + 1}`));
  cache = {
    surface: get('surface'), text: get('text'), muted: get('muted'), grid: get('grid'), line: get('line'),
    accent: get('accent'), ground: get('ground'), pin: get('pin'), pinFill: get('pin-fill'), spring: get('spring'),
    force: get('force'), sensor: get('sensor'), desired: get('desired'),
    bodies: several('body', 8), series: several('series', 10), ghosts: several('ghost', 4),
  };
  return cache;
}

export const cycle = (list: string[], k: number): string => list[((k % list.length) + list.length) % list.length];

/** a·(1-f) + b·f of two colours #rrggbb. */
export function mix(a: string, b: string, f: number): string {
  const channel = (c: string, k: number): number => parseInt(c.slice(1 + 2 * k, 3 + 2 * k), 16);
  const hex = [0, 1, 2].map((k) => Math.round(channel(a, k) * (1 - f) + channel(b, k) * f).toString(16).padStart(2, '0'));
  return `#${hex.join('')}`;
}

/** #rrggbb with an opacity. */
export const fade = (color: string, opacity: number): string =>
  color + Math.round(opacity * 255).toString(16).padStart(2, '0');

export const isColor = (c: string | undefined): c is string => c !== undefined && /^#[0-9a-f]{6}$/i.test(c);
