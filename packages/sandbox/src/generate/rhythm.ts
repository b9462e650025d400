import { itemAt } from '@call-attribution/core/errors';
import { Random } from './random.ts';

/** Seconds in a day. */
export const day = 86_400;

// Relative call volume by hour of the day, day of the week (from Sunday) and month of the year.
const hours = [
  2, 1, 1, 1, 2, 5, 14, 35, 72, 96, 100, 95, 80, 88, 92, 86, 74, 55, 36, 25, 18, 12, 7, 4,
];
const weekdays = [0.28, 1.12, 1.1, 1.05, 1.02, 0.95, 0.42];
const months = [0.9, 0.94, 1.02, 1.08, 1.12, 1.1, 1.02, 0.96, 1, 1.04, 0.98, 0.84];

/**
 * When calls arrive: finds the time at which a given share of all calls of a period has arrived.
 */
export class Rhythm {
  private readonly sums: Float64Array;
  private readonly from: number;
  private readonly to: number;
  private near = 0;

  constructor(seed: number, from: number, to: number) {
    const random = new Random(seed);
    const count = Math.max(1, Math.ceil((to - from) / 3600));
    this.from = from;
    this.to = to;
    this.sums = new Float64Array(count + 1);
    let mood = 1;
    for (let i = 0; i < count; i++) {
      const time = from + i * 3600;
      const hour = Math.floor((time % day) / 3600);
      if (hour === 0 || i === 0) mood = moodOf(random, time);
      const weekday = (Math.floor(time / day) + 4) % 7;
      const month = itemAt(months, new Date(time * 1000).getUTCMonth());
      const growth = 1 + (0.3 * i) / count;
      const share = Math.min(3600, to - time) / 3600;
      const busy = itemAt(hours, hour) * itemAt(weekdays, weekday) * month * mood * growth * share;
      this.sums[i + 1] = this.before(i) + busy;
    }

    // A period that has only closed days still needs times for its calls.
    if (this.sums[count] === 0) for (let i = 1; i <= count; i++) this.sums[i] = i;
  }

  /** The share (0 to 1) of all calls that has arrived when this hour begins. */
  shareBefore(hour: number): number {
    const last = this.sums.length - 1;
    const index = Math.min(Math.max((hour - this.from) / 3600, 0), last);
    return this.before(Math.floor(index)) / this.before(last);
  }

  /**
   * The time, in whole seconds, at which this share (0 to 1) of all calls has arrived. It never
   * decreases as the share grows.
   */
  at(share: number): number {
    const last = this.sums.length - 1;
    const target = share * this.before(last);

    // Calls are made in order, so the next one is nearly always in the same hour or soon after.
    let low = target < this.before(this.near) ? 0 : this.near;
    for (let step = 0; step < 8 && low < last - 1 && this.before(low + 1) < target; step++) low++;
    if (low < last - 1 && this.before(low + 1) < target) {
      let high = last;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (this.before(middle) < target) low = middle;
        else high = middle;
      }
    }

    this.near = low;
    const before = this.before(low);
    const width = this.before(low + 1) - before;
    const part = width > 0 ? Math.min((target - before) / width, 0.9999) : 0;
    return Math.min(this.from + Math.floor((low + part) * 3600), this.to - 1);
  }

  /** How busy all hours before this one were. */
  private before(hour: number): number {
    return this.sums[hour] ?? 0;
  }
}

/** A few days are closed, a few are far busier than the rest (a broadcast, a storm, a sale). */
function moodOf(random: Random, time: number): number {
  const ordinary = 0.7 + 0.6 * random.next();
  const kind = random.next();
  const date = new Date(time * 1000).toISOString().slice(5, 10);
  if (date === '12-25' || date === '01-01' || kind < 0.008) return 0;
  return kind > 0.985 ? ordinary * 3.5 : ordinary;
}
