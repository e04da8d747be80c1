// On paper: light, one column as wide as the sheet, the frame that is on the screen.
import { setPrinting } from './theme.ts';

/** Calls `resize` when the layout changes between screen and paper. */
export function watchPrinting(resize: () => void): void {
  const media = matchMedia('print');
  const change = (on: boolean): void => {
    if (document.documentElement.classList.contains('printing') === on) return;
    document.documentElement.classList.toggle('printing', on);
    setPrinting(on);
    resize();
  };
  media.addEventListener('change', () => change(media.matches));
  addEventListener('beforeprint', () => change(true));
  addEventListener('afterprint', () => change(false));
}
