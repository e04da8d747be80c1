// A clock that plays, and tells its listeners when the time or its state changes.

export const speeds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10] as const;

export class Playback {
  time: number;
  playing = false;
  loop = true;
  speed = 1;
  private readonly listeners: (() => void)[] = [];
  private last = 0;
  private frame = 0;

  constructor(readonly start: number, readonly end: number) {
    this.time = start;
    this.speed = naturalSpeed(end - start);
  }

  get length(): number {
    return this.end - this.start;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  setTime(t: number): void {
    if (!Number.isFinite(t)) return;
    this.time = Math.min(this.end, Math.max(this.start, t));
    this.notify();
  }

  setSpeed(s: number): void {
    if (!(s > 0) || !Number.isFinite(s)) return;
    this.speed = s;
    this.notify();
  }

  /** The next speed of the list, up (+1) or down (-1). */
  changeSpeed(direction: 1 | -1): void {
    const next = direction > 0 ? speeds.find((s) => s > this.speed * 1.001) : [...speeds].reverse().find((s) => s < this.speed * 0.999);
    if (next) this.setSpeed(next);
  }

  play(): void {
    if (this.playing || !(this.length > 0)) return;
    if (this.time >= this.end) this.time = this.start;
    this.playing = true;
    this.last = performance.now();
    this.frame = requestAnimationFrame(this.tick);
    this.notify();
  }

  pause(): void {
    if (!this.playing) return;
    this.playing = false;
    cancelAnimationFrame(this.frame);
    this.notify();
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  private readonly tick = (now: number): void => {
    if (!this.playing) return;
    this.time += (Math.max(0, now - this.last) / 1000) * this.speed;
    this.last = now;
    if (this.time >= this.end) {
      if (this.loop) this.time = this.start + ((this.time - this.start) % this.length);
      else {
        this.time = this.end;
        this.playing = false;
      }
    }
    if (this.playing) this.frame = requestAnimationFrame(this.tick);
    this.notify();
  };

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}

/** Real time when the run lasts between one second and two minutes; otherwise what fits in some seconds. */
export function naturalSpeed(length: number): number {
  if (!(length > 0) || (length >= 1 && length <= 120)) return 1;
  const wanted = length < 1 ? length / 4 : length / 60;
  return speeds.reduce((best, s) => (Math.abs(Math.log(s / wanted)) < Math.abs(Math.log(best / wanted)) ? s : best), 1);
}
