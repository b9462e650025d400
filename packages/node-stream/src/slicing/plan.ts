import type { RawPage } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';
import { Capacity } from './capacity.ts';
import { type Ask, chooseStyle, earliest, findLower } from './questions.ts';
import { dateOf } from './page-view.ts';
import type { CutLimits, Region } from './region.ts';
import { regionsOf, type Sample, sampleOf } from './split.ts';
import type { SliceRead } from './judge.ts';
import { finest, type Span } from '../query/time-slice.ts';
import type { BoundStyle, WindowQuery } from '../query/window-query.ts';

/** What the cutting of a query depends on. */
export interface SlicerSettings {
  readonly query: WindowQuery;
  readonly rows: number;
  /** Pages a slice may have; 0 when the query is not cut at all. */
  readonly slicePages: number;
  /** How upper ends are written; null to find out. */
  readonly style: BoundStyle | null;
  /** Naive times: records before the first are at rest, none is expected behind the second. */
  readonly sealedBefore: number;
  readonly horizon: number;
}

const year = 366 * 864e5;

/** Decides what becomes of the first page of a slice, and cuts slices that hold too much. */
export class Slicer {
  readonly #settings: SlicerSettings;
  readonly #capacity: Capacity;
  readonly #ask: Ask;
  /** How upper ends are written, once it is known. */
  style: BoundStyle | null;

  constructor(settings: SlicerSettings, ask: Ask) {
    this.#settings = settings;
    this.#capacity = new Capacity(settings.rows, Math.max(1, settings.slicePages));
    this.#ask = ask;
    this.style = settings.style;
  }

  get limits(): CutLimits {
    const { records: capacity, aimAt } = this.#capacity;
    return { capacity, aimAt, sealedBefore: this.#settings.sealedBefore };
  }

  /** Learns how many rows the server gives. */
  saw(page: RawPage, total: number): void {
    if (page.count === total) this.#capacity.fitted(page.count);
    else if (page.count > 0) this.#capacity.overflowed(page.count);
  }

  /** Whether a first page can be read as it is, must be asked for with all rows, or shows that the slice holds too much. */
  judge(slice: SliceRead, page: RawPage, isProbe: boolean): 'read' | 'refetch' | 'split' {
    const total = page.range?.total ?? null;
    if (page.count === total) return 'read';
    const isTooMuch =
      total !== null && page.count > 0 && (total > this.#capacity.records || slice.passes > 2);
    if (isTooMuch && this.#canSplit(slice.span)) return 'split';
    return isProbe ? 'refetch' : 'read';
  }

  /** Whether a slice can be split without asking the server anything more. */
  isReady({ span }: SliceRead): boolean {
    return this.style !== null && (span.from ?? this.#settings.query.lower) !== null;
  }

  /** The regions of a slice that holds too much, by the times on its first page. */
  split(slice: SliceRead, page: RawPage): Region[] {
    const sample = this.#sample(page);
    return this.#regions(
      slice,
      page,
      sample,
      slice.span.from ?? this.#settings.query.lower ?? sample.times[0] ?? earliest,
    );
  }

  /** The same when it is not known yet how upper ends are written, or where the query begins. */
  async splitAfterAsking(slice: SliceRead, page: RawPage): Promise<Region[]> {
    const { query, horizon } = this.#settings;
    const sample = this.#sample(page);
    const [first = horizon, last = first] = [sample.times[0], sample.times.at(-1)];
    if (this.style === null && sample.times.length > 0)
      this.style = await chooseStyle(query, first, this.#ask);
    const known = slice.span.from ?? query.lower ?? (sample.order === 'ascending' ? first : null);
    const before = (to: number) => this.#ask(query.within({ from: null, to }, this.style ?? 'half-open'));
    const few = this.#capacity.records / 2;
    return this.#regions(slice, page, sample, known ?? (await findLower(first, last - first, few, before)));
  }

  /** Finds out how upper ends are written, by a call of a page. */
  async findStyle(page: RawPage): Promise<BoundStyle | null> {
    const [known] = this.#sample(page).times;
    if (known !== undefined) this.style = await chooseStyle(this.#settings.query, known, this.#ask);
    return this.style;
  }

  #regions({ span }: SliceRead, page: RawPage, sample: Sample, lower: number): Region[] {
    const total = page.range?.total ?? 0;
    const { records: capacity } = this.#capacity;
    return regionsOf(span, { total, lower, upper: this.#upper(span, lower), capacity }, sample);
  }

  #sample(page: RawPage): Sample {
    const times = page.slices().map((_, i) => parseNaive(dateOf(page, i)));
    return sampleOf(times.filter((time) => time >= earliest));
  }

  /** The upper end to reckon with. A query without one always leaves room behind what is known. */
  #upper(span: Span, lower: number): number {
    return span.to ?? this.#settings.query.upper ?? Math.max(this.#settings.horizon, lower + year);
  }

  #canSplit(span: Span): boolean {
    if (this.#settings.slicePages === 0) return false;
    const lower = span.from ?? this.#settings.query.lower ?? earliest;
    return this.#upper(span, lower) - lower > finest;
  }
}

/** Whether the ends of a page lie inside its slice: a server that ignores ranges gives every slice the same records. */
export function isInside({ from, to }: Span, page: RawPage): boolean {
  const ends = page.count > 0 ? [0, page.count - 1] : [];
  return ends
    .map((i) => parseNaive(dateOf(page, i)))
    .every((date) => !(date < (from ?? date)) && !(date >= (to ?? Number.POSITIVE_INFINITY)));
}
