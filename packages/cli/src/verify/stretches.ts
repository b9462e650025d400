import { hash } from 'node:crypto';
import { formatNaive, hour, parseNaive } from '@call-attribution/core/time';
import type { TimeSlice } from '@call-attribution/node-stream';
import { type RowCount, RowDigest } from '@call-attribution/node-stream/receipts';
import type { Difference } from './finding.ts';

/** A row on either side: when it was added and its session ID, where it has them, and its text in one form. */
export interface ComparedRow {
  readonly at: string | null;
  readonly sid: string | null;
  readonly text: string;
}

/** Is a time in the range? What has no time is only in a range without ends. */
export function isWithin(at: string | null, { from, to }: TimeSlice): boolean {
  if (from === null && to === null) return true;
  return at !== null && (from === null || at >= from) && (to === null || at < to);
}

/** What two ranges have in common. Where that is nothing, its end is not after its start. */
export function commonSlice(one: TimeSlice, other: TimeSlice): TimeSlice {
  const starts = [one.from, other.from].filter((from) => from !== null).sort();
  const ends = [one.to, other.to].filter((to) => to !== null).sort();
  return { from: starts.at(-1) ?? null, to: ends[0] ?? null };
}

/** Rows by the hour in which they were added: small, however many there are. */
export class Hours {
  readonly #hours = new Map<string, RowDigest>();
  count = 0;

  add({ at, text }: ComparedRow): void {
    const key = hourOf(at);
    const digest = this.#hours.get(key) ?? new RowDigest();
    digest.add(text);
    this.#hours.set(key, digest);
    this.count += 1;
  }

  /** The hours that have rows. */
  keys(): string[] {
    return [...this.#hours.keys()];
  }

  /** The rows of some hours together. */
  sum(hours: readonly string[]): RowCount {
    const all = new RowDigest();
    for (const key of hours) {
      const digest = this.#hours.get(key);
      if (digest !== undefined) all.merge(digest.result());
    }
    return all.result();
  }
}

const hourOf = (at: string | null): string => at?.slice(0, 13) ?? '';

/** The hours in which two sides differ: a stretch that differs is halved until it is one hour. */
export function unequalHours(a: Hours, b: Hours): string[] {
  const halve = (hours: readonly string[]): readonly string[] => {
    const [here, there] = [a.sum(hours), b.sum(hours)];
    if (here.count === there.count && here.digest === there.digest) return [];
    if (hours.length === 1) return hours;
    const middle = hours.length >> 1;
    return [...halve(hours.slice(0, middle)), ...halve(hours.slice(middle))];
  };
  return [...halve([...new Set([...a.keys(), ...b.keys()])].sort())];
}

/** Rows that are looked at one by one. */
const mostRows = 100_000;

/** Hours that follow each other as ranges, as far as their rows fit into memory, and the hours that are left out. */
export function rangesOf(
  hours: readonly string[],
  sides: readonly Hours[],
): { ranges: TimeSlice[]; rest: string[] } {
  const ranges: { from: string; to: string }[] = [];
  const rest: string[] = [];
  let rows = 0;
  for (const key of hours) {
    const start = parseNaive(`${key}:00:00`);
    rows += Math.max(...sides.map((side) => side.sum([key]).count));
    if (Number.isNaN(start) || rows > mostRows) {
      rest.push(key);
      continue;
    }
    const from = formatNaive(start);
    const to = formatNaive(start + hour);
    const last = ranges.at(-1);
    if (last?.to === from) last.to = to;
    else ranges.push({ from, to });
  }
  return { ranges, rest };
}

/** The rows of one side that are looked at one by one. */
export class NamedRows {
  readonly #rows = new Map<string, { at: string | null; text: string; times: number }>();

  add({ at, sid, text: row }: ComparedRow): void {
    const text = hash('sha256', row, 'hex');
    // Without a session ID a row is recognized by what it says.
    const key = sid ?? text;
    const known = this.#rows.get(key);
    if (known === undefined) this.#rows.set(key, { at, text, times: 1 });
    else known.times += 1;
  }

  /** What is different here from there. */
  differences(there: NamedRows): Difference[] {
    const found = {
      missing: new Group('missing'),
      extra: new Group('extra'),
      changed: new Group('changed'),
    };
    for (const [sid, { at, text, times }] of this.#rows) {
      const other = there.#rows.get(sid);
      const more = times - (other?.times ?? 0);
      if (more > 0) found.extra.add(at, sid, more);
      if (other !== undefined && other.text !== text) found.changed.add(at, sid, 1);
    }
    for (const [sid, { at, times }] of there.#rows) {
      const more = times - (this.#rows.get(sid)?.times ?? 0);
      if (more > 0) found.missing.add(at, sid, more);
    }
    return Object.values(found).flatMap((group) => group.result());
  }
}

const mostSids = 20;

/** Calls of one kind of difference. */
class Group {
  readonly #kind: Difference['kind'];
  #calls = 0;
  #times: string[] = [];
  #sids: string[] = [];

  constructor(kind: Difference['kind']) {
    this.#kind = kind;
  }

  add(at: string | null, sid: string, times: number): void {
    this.#calls += times;
    if (at !== null)
      this.#times = [...this.#times, at].sort().filter((_, i, all) => i === 0 || i === all.length - 1);
    if (this.#sids.length < mostSids && /^[\w.-]{1,64}$/.test(sid)) this.#sids.push(sid);
  }

  result(): Difference[] {
    if (this.#calls === 0) return [];
    const [from = null] = this.#times;
    return [{ kind: this.#kind, calls: this.#calls, from, to: this.#times.at(-1) ?? null, sids: this.#sids }];
  }
}
