import { setMaxListeners } from 'node:events';
import { StreamError } from './errors.ts';
import { IdSet } from './ids.ts';
import {
  type Answer,
  type Ask,
  isRising,
  judge,
  type ListSource,
  type Pace,
  paceAfter,
  type SliceOptions,
  splitAt,
} from './judge.ts';
import type { ReadState, Span, Stretch } from './proof.ts';

// A slice is one answer. It is delivered when it is proved: as many items as its total says, each
// once, all inside. Else it is asked for again; a range that holds more than a page is cut where
// the answer shows. Ranges are closed and share their borders, so that nothing falls between two of
// them, however the server reads fractions of seconds or a repeated hour.

/** An answer that was not what was asked for; another one may be. */
export class Misplaced extends Error {
  override readonly name = 'Misplaced';
}

/** Items that are delivered together. */
export interface Slice<T> extends Span<number> {
  readonly items: readonly T[];
  /** What was read with it; null while a range goes on. */
  readonly stretches: readonly Stretch<number>[] | null;
  /** Ids that come again with what follows. */
  readonly border: readonly string[];
  /** Of a range that goes on: how far it is. */
  readonly pages: ReadState<number>['pages'];
  /** What the first answer of all counted. */
  readonly first: number | null;
  /** How close items lie here; null while that is not known. */
  readonly pace: Pace | null;
}

const tries = 5;
/**
 * Requests of any read, and those that a delivered slice adds: totals that cannot be true end here.
 */
const fewRequests = 100;
const requestsPerSlice = 20;
/** Of a page, what a slice is meant to hold. */
const fill = 0.85;
/**
 * A range of fewer pages is read on where a page ends; in one of more, places are planned, so that
 * several are read at a time.
 */
const fewPages = 16;
/**
 * Plans may take so many requests for each page of items, in order or not, and a few besides. Where
 * calls lie too unevenly for that, each cut is made where a page shows, which takes no more.
 */
const plannedPerPage = { inOrder: 1.5, mixed: 2.4 } as const;
const fewPlanned = 8;
/** In no order, a part of a range is cut off for so many items of a page: fewer show too little. */
const itemsPerCut = 4;

interface Piece<T> extends Span<number> {
  /** It ends where an answer has shown: no other end is planned. */
  readonly isCut?: boolean;
  answer?: Promise<Answer<T> | Misplaced>;
  /** The answer, once it came. */
  came?: Answer<T> | Misplaced;
}

/** An item where it came. */
interface Found<T> {
  readonly answer: Answer<T>;
  readonly index: number;
}

const atOf = <T>({ answer, index }: Found<T>): number => answer.ats[index] ?? Number.NaN;
const idOf = <T>({ answer, index }: Found<T>): string => answer.ids[index] ?? '';

/** What came of a range, each item once. */
interface Gathered<T> extends Pick<Stretch<number>, 'is' | 'why' | 'missing' | 'sids'> {
  readonly items: readonly Found<T>[];
  readonly total: number | null;
}

/** Reads ranges of a list, which are in order: slice after slice, each item once. */
export const slices = <T>(
  source: ListSource<T>,
  ranges: readonly Span<number>[],
  options: SliceOptions,
): AsyncGenerator<Slice<T>, void, void> => new Slicer(source, options).read(ranges);

class Slicer<T> {
  readonly #source: ListSource<T>;
  readonly #options: SliceOptions;
  readonly #seen = new IdSet();
  /** Ids that may come again, with where they lie. */
  #border = new Map<string, number>();
  /** Those of an earlier run, of which only the id is known. */
  readonly #restored = new Set<string>();
  #asked: Span<number> = { from: null, to: null };
  #work: Piece<T>[] = [];
  /** Items and the width that held them, where the list was seen last. */
  #pace: Pick<Pace, 'items' | 'width'> | null;
  /**
   * Items that a page holds: fewer than were asked for, once the server has shown that it gives no
   * more.
   */
  #size: number;
  /** The list has shown that it is in no order. */
  #isMixed = false;
  /** Items of the last answer that held fewer than were asked for and not all. */
  #short = 0;
  #isQuiet = false; // where the list was seen last
  #peels = 0;
  #left: number; // of an open end
  #first: number | null = null;
  /** The first range, where it is asked for as a whole. */
  #whole: Piece<T> | null = null;
  #requests = 0;
  #coming = 0; // answers
  /** Items of ranges that one answer held. */
  #fitting = 0;
  #delivered = 0;
  /** Ranges that were proved to be empty. */
  #empty = 0;
  #given = 0;
  /** Somebody waits for the next slice. */
  #isAwaited = true;

  constructor(source: ListSource<T>, options: SliceOptions) {
    this.#source = source;
    this.#options = options;
    this.#size = Math.min(options.pace?.size ?? options.rows, options.rows);
    this.#pace = options.pace;
    this.#left = options.pace?.left ?? 0;

    // One for each request on its way.
    setMaxListeners(0, options.stop.signal);
  }

  async *read(ranges: readonly Span<number>[]): AsyncGenerator<Slice<T>, void, void> {
    try {
      yield* this.#inOrder(ranges);
    } catch (error) {
      if (this.#options.keepsArrived) yield* this.#arrived();
      throw error;
    } finally {
      this.#work = [];
    }
  }

  /** What has arrived of the slices that are on their way, where one answer is all of a slice. */
  *#arrived(): Generator<Slice<T>, void, void> {
    for (const piece of this.#work.splice(0)) {
      const answer = piece.came;
      if (answer === undefined || answer instanceof Misplaced) continue;
      const { ids, total } = answer;
      // A full page that says that it is all may come from a server that counts no further.
      const isAll =
        new Set(ids).size === total && ids.length === total && total < this.#options.rows;
      if (!isAll || judge(answer, piece, this.#options) !== 'complete') continue;
      yield this.#deliver(piece, {
        items: ids.map((_, index) => ({ answer, index })),
        total,
        is: 'proved',
      });
    }
  }

  async *#inOrder(ranges: readonly Span<number>[]): AsyncGenerator<Slice<T>, void, void> {
    const { stray, from } = this.#options;
    for (const id of from?.border ?? []) {
      this.#seen.add(id);
      this.#restored.add(id);
      this.#border.set(id, (ranges[0]?.from ?? Number.NEGATIVE_INFINITY) + stray);
    }

    this.#asked = { from: ranges[0]?.from ?? null, to: ranges.at(-1)?.to ?? null };
    this.#work = ranges.map(({ from, to }) => ({ from, to }));
    if (this.#pace === null) this.#whole = this.#work[0] ?? null;
    const pages = from?.pages ?? null;
    if (pages !== null && this.#work[0] !== undefined)
      yield* this.#byPages(this.#work[0], null, pages);
    while (this.#work.length > 0) {
      this.#lookAhead();
      const head = this.#work[0] as Piece<T>;
      // What is on its way is still taken.
      if (head.answer === undefined) return;
      const answer = await head.answer;
      // It may have become two when its answer came.
      if (head !== this.#work[0]) continue;
      const gathered = await this.#gather(head, answer);
      if (gathered === 'pages')
        yield* this.#byPages(head, answer instanceof Misplaced ? null : answer, null);
      else if (gathered !== 'cut') {
        this.#work.shift();
        this.#left -= gathered.items.length;
        const slice = this.#deliver(head, gathered);
        this.#isAwaited = false;
        this.#lookAhead();
        yield slice;
        this.#isAwaited = true;
      }
    }
  }

  async #ask(range: Span<number>, page = 0, rows = this.#options.rows, after: Ask['after'] = null) {
    this.#requests += 1;
    this.#coming += 1;

    // What lies at the border of an earlier read comes again: a page at most for each.
    // A range that was proved to be empty pays for its own request.
    const free = fewRequests + this.#restored.size + this.#empty;
    if (this.#requests > free + requestsPerSlice * this.#delivered)
      throw new StreamError(
        'too_many_requests',
        `${this.#requests - 1} requests brought ${this.#delivered} pages of items: the totals of the server cannot be true.`,
      );

    try {
      return await this.#source.ask({
        range,
        page,
        rows,
        after,
        signal: this.#options.stop.signal,
      });
    } catch (error) {
      if (error instanceof Misplaced) return error;
      throw error;
    } finally {
      this.#coming -= 1;
    }
  }

  /** Asks for the slices that come next. Without a pace only for the first. */
  #lookAhead(): void {
    for (let i = 0; i < this.#work.length && this.#given < this.#options.most; i += 1) {
      const piece = this.#work[i] as Piece<T>;
      if (i > 0 && (this.#pace === null || !this.#mayAsk())) return;
      if (piece.answer !== undefined) continue;
      const end = this.#endByPace(piece, i);
      const next: Piece<T> = end === null ? piece : { from: piece.from, to: end };
      if (end !== null) this.#work.splice(i, 1, next, { from: end, to: piece.to });
      this.#wait(next, this.#ask(next));
    }
  }

  /**
   * Whether one more may be on its way. While somebody waits, a few pages more may have come before
   * it is their turn.
   */
  #mayAsk(): boolean {
    const { ahead, most, rows } = this.#options;
    const asked = this.#work.filter(({ answer }) => answer !== undefined);
    const held = asked.reduce(
      (sum, { came }) => sum + (came && 'ids' in came ? came.ids.length : 0),
      0,
    );
    const isFew =
      this.#isAwaited && !this.#isMixed ? held < 2 * (ahead - 1) * rows : asked.length < ahead;
    return isFew && this.#coming < ahead && asked.length < Math.ceil((most - this.#given) / 2);
  }

  #wait(piece: Piece<T>, answer: Promise<Answer<T> | Misplaced>): void {
    piece.answer = answer;
    // An error is thrown when its slice is next.
    answer.then(
      (came) => {
        piece.came = came;
        if (came instanceof Misplaced || !this.#work.includes(piece)) return;
        const judgement = judge(came, piece, this.#options);
        if (judgement === 'complete') {
          this.#fitting += came.ids.length;
          this.#learn(came.ids.length, piece);
        }

        // Whoever does not wait for a slice causes no more requests.
        if (!this.#isAwaited || judgement === 'outside') return;
        const isContinued = this.#mayAsk() && this.#keepAndContinue(piece, came);
        if (isContinued || this.#work[0]?.came === undefined) this.#lookAhead();
      },
      () => {},
    );
  }

  /** Whether plans have taken too many requests. */
  get #isWasteful(): boolean {
    const answers = this.#requests - this.#coming;
    const perPage = plannedPerPage[this.#isMixed ? 'mixed' : 'inOrder'];
    return answers > (perPage * this.#fitting) / this.#size + fewPlanned;
  }

  /**
   * Where a slice of this piece should end so that it fills most of a page; null: ask for it as it
   * is.
   */
  #endByPace({ from, to, isCut }: Piece<T>, before: number): number | null {
    if (this.#pace === null || from === null || this.#options.hasPositions === false) return null;
    // After a quiet time, an answer shows where items go on.
    if (isCut || this.#isQuiet || this.#isWasteful) return null;
    const { step } = this.#options;
    const { items, width } = this.#pace;
    const aim = fill * this.#size;
    const ideal = Math.max(
      step,
      Math.floor(Math.min((aim * width) / items, 8 * width) / step) * step,
    );
    const end = from + ideal;
    if (to !== null) return to - end < ideal * 0.2 ? null : end;

    // Nobody knows how far an open range goes: it is asked for as it is when little of its total is
    // left.
    return this.#left - before * aim < aim + 0.5 * this.#size ? null : end;
  }

  #learn(count: number, { from, to }: Span<number>): void {
    this.#isQuiet = count === 0;
    if (from !== null && to !== null) this.#pace = paceAfter(this.#pace, count, to - from);
  }

  /**
   * Asks for a range until an answer proves it, five times; or finds that it has to be cut, or read
   * page by page.
   */
  async #gather(
    piece: Piece<T>,
    given: Answer<T> | Misplaced,
  ): Promise<Gathered<T> | 'cut' | 'pages'> {
    const all = new Map<string, Found<T>>();
    let last = { total: null as number | null, twice: '', isPassed: false };
    const came = (total: number | null) => ({ items: [...all.values()], total });
    let refusal: Misplaced | null = null;
    let outside = 0;

    const noteOutside = (): void => {
      outside += 1;
      if (outside >= 3) throw new StreamError('range_ignored');
    };

    for (let pass = 1; pass <= tries; pass += 1) {
      const answer = pass === 1 ? given : await this.#ask(piece);
      if (answer instanceof Misplaced) {
        refusal = answer;
        continue;
      }
      const judgement = judge(answer, piece, this.#options);
      if (judgement === 'outside') {
        noteOutside();
        continue;
      }
      if (judgement === 'untotalled') return 'pages';
      const { ids, ats } = answer;
      const total = answer.total ?? 0;
      const distinct = new Set(ids).size;
      if (piece === this.#whole) this.#first ??= total;
      if (ids.length > this.#size) this.#size = Math.min(ids.length, this.#options.rows);
      const canCut = ids.length > 0 && this.#canCut(piece, answer);
      if (ids.length > 0 && !ats.some(Number.isFinite) && judgement === 'full') return 'pages';
      if (
        judgement === 'full' &&
        canCut &&
        (total > this.#options.rows || ids.length >= this.#size)
      )
        return this.#cut(piece, answer);
      // Nearly every slice: no more than this has to be looked at.
      if (ids.length === total && total < this.#options.rows && distinct === total)
        return { items: ids.map((_, index) => ({ answer, index })), total, is: 'proved' };
      const found = await this.#pass(piece, answer, !canCut);
      if (found === 'cut') return this.#cut(piece, answer);
      if (found === 'outside') {
        noteOutside();
        continue;
      }
      for (const [id, one] of found.items) all.set(id, one);
      const twice = found.twice.join('\n');
      if (found.isProved) return { items: [...found.items.values()], total, is: 'proved' };

      // Rows that come twice, in this try and in the one before, and are counted twice, or once. In
      // several pages the first may be a page that repeats another one.
      const areCountedTwice = ids.length === total && distinct < total;
      const areCountedOnce = found.isSteady && found.items.size === total && twice !== '';
      if ((areCountedTwice || areCountedOnce) && twice === last.twice)
        return { ...came(total), is: 'short', why: 'doubled', missing: 0, sids: found.twice };

      // More than the total, and again: the server counts no further.
      const isPassed = found.isSteady && found.items.size > total;
      if (isPassed && last.isPassed) return 'pages';
      last = { total, twice, isPassed };
    }

    // Nothing at all was understood: that is no gap, but a server that cannot be read.
    if (refusal !== null && this.#first === null && this.#delivered === 0) throw refusal.cause;
    const most = came(last.total);
    if (last.total === null) return { ...most, is: 'short', why: 'fewer' };
    const missing = last.total - all.size;
    if (missing > 0) return { ...most, is: 'short', why: 'fewer', missing };
    return { ...most, is: 'unproven', why: 'unsteady' };
  }

  /** Whether a range can be cut in two. */
  #canCut({ from, to }: Piece<T>, { ats }: Answer<T>): boolean {
    if (this.#options.hasPositions === false) return false;
    if (from !== null && to !== null && to - from <= this.#options.step) return false;
    return ats.some(Number.isFinite);
  }

  /**
   * One pass over the pages of a range that does not fit in one answer, or says so. `isWhole`: it
   * has to be read to its end.
   */
  async #pass(piece: Piece<T>, answer: Answer<T>, isWhole: boolean) {
    const items = new Map<string, Found<T>>();
    const twice: string[] = [];

    const take = (page: Answer<T>): number => {
      const before = items.size;
      for (const [index, id] of page.ids.entries()) {
        if (items.has(id)) twice.push(id);
        items.set(id, { answer: page, index });
      }
      return items.size - before;
    };

    take(answer);
    const total = answer.total ?? 0;

    // A server that gives more rows than it was asked for still counts its pages by those.
    const rows = Math.min(answer.ids.length, this.#options.rows);
    let got = answer.ids.length;
    let isSteady = true;

    // After a full page that ends with the total, the server may count no further, or count a row
    // once that comes twice: the next one shows it.
    let isFull = got >= this.#options.rows;
    const isMore = (): boolean => got < total || (isFull && items.size <= total);
    for (let page = 1; rows > 0 && isMore(); page += 1) {
      const next = await this.#ask(piece, page, rows);
      if (next instanceof Misplaced)
        return { items, twice: twice.sort(), isSteady: false, isProved: false };
      if (judge(next, piece, this.#options) === 'outside') return 'outside' as const;
      const fresh = take(next);
      got += next.ids.length;
      isFull = next.ids.length >= rows;
      isSteady &&= next.total === total || next.ids.length === 0;
      // It gives fewer than were asked for, and others with the next page.
      if (fresh > 0 && !isWhole) return 'cut' as const;
      if (fresh === 0) break;
      if (next.ids.some((id) => !this.#seen.has(id))) this.#delivered += 1;
    }

    const isProved = isSteady && got === total && items.size === total;
    return { items, twice: twice.sort(), isSteady, isProved };
  }

  /** A range that holds more than a page becomes two, where the answer shows. */
  async #cut(piece: Piece<T>, answer: Answer<T>): Promise<'cut'> {
    const { ids, ats } = answer;
    const { step, stray, most } = this.#options;
    if (this.#given >= most) this.#work = [];
    if (this.#work.length === 0) return 'cut';
    const lowest = piece.from ?? Number.NEGATIVE_INFINITY;
    const highest = piece.to ?? Number.POSITIVE_INFINITY;
    const total = answer.total ?? 0;

    // When it gives as few twice although there are more, it never gives more.
    if (ids.length === this.#short) this.#size = ids.length;
    if (ids.length < this.#size) this.#short = ids.length;
    if (this.#keepAndContinue(piece, answer)) return 'cut';
    const size = Math.min(this.#size, ids.length);
    const known = ats.filter(Number.isFinite).sort((a, b) => a - b);
    const first = known[0] ?? 0;
    const last = known.at(-1) ?? 0;
    const isInside = known.length === ids.length && first >= lowest && last <= highest;
    const isUp = isInside && isRising(ats);
    const isDown = isInside && isRising(ats.toReversed());
    this.#isMixed ||= isInside && !isUp && !isDown;
    let from = piece.from ?? first;
    let ends: readonly number[];
    let left = 0; // how many lie before the first cut; 0 when nobody knows
    if (isUp && !isDown) {
      from = Math.max(lowest, first - step);
      const filled = known[Math.floor(known.length * fill)] ?? last;
      ends = [this.#isWasteful ? last - step : filled];
      left = known.filter((at) => at < (ends[0] as number)).length;
    } else if (isUp && this.#peels < 4) {
      // What comes before the only position that shows, the position itself, and the rest; a few
      // times: more would never end.
      this.#peels += 1;
      ends = [[last - step, last].find((at) => at > lowest) ?? last + step];
    } else if (isInside && !isDown && (total < fewPages * size || this.#isWasteful)) {
      // In no order, a page shows a sample.
      const shown = Math.max(2, Math.floor(known.length / itemsPerCut));
      const parts = Math.min(Math.ceil(total / (fill * size)), shown);
      ends = Array.from(
        { length: parts - 1 },
        (_, i) => known[Math.floor((known.length * (i + 1)) / parts)] ?? last,
      );
    } else if (!isInside) {
      // Where the clock was changed, items show nothing of where they lie in the range: it is
      // halved.
      from = piece.from ?? Math.min(first, last - 2 * stray);
      ends = [(from + (piece.to ?? from + 2 * stray)) / 2];
    } else if (isDown && !isUp && this.#pace !== null && total < fewPages * size) {
      // Newest first, the page is the end of the range.
      ends = [first + step];
    } else {
      // In no order, the page shows a sample of all. Newest first, a later page shows where items
      // begin; or where some pages of them end, when plans take too many requests.
      const isPlanned = !isDown || !this.#isWasteful;
      from = first;
      if (isDown) {
        const pages = Math.ceil(total / ids.length);
        const page = Math.max(1, pages - (isPlanned ? 1 : fewPages - 1));
        const far = await this.#ask(piece, page, ids.length);
        if (!(far instanceof Misplaced) && judge(far, piece, this.#options) === 'outside')
          throw new StreamError('range_ignored');
        const others = far instanceof Misplaced ? [] : far.ats.filter(Number.isFinite);
        from = others.reduce((a, b) => Math.min(a, b), first);
      }

      // Half a page at first: nothing shows how even the list is.
      left = isPlanned ? Math.min(total, size) / 2 : 0;
      ends = [from + ((last - from) * left) / total];
    }

    const inside = (places: readonly number[]): number[] => {
      const whole = places.map((end) => Math.floor(end / step) * step);
      return [...new Set(whole)].filter((end) => end > lowest && end < highest);
    };

    // Where the page shows nothing but the ends of the range, these are cut off.
    ends = inside(ends);
    if (ends.length === 0) ends = inside(known).slice(0, 1);
    if (ends.length === 0) ends = inside([lowest + step, highest - step]);
    if (left > 0) this.#pace = { items: left, width: Math.max(step, (ends[0] as number) - from) };
    if (piece.to === null) this.#left = total;
    const pieces = [...ends, piece.to].map((end, i) => ({
      from: ends[i - 1] ?? piece.from,
      to: end,
      isCut: isInside && i < ends.length,
    }));
    this.#work.splice(0, 1, ...pieces);
    return 'cut';
  }

  /**
   * Keeps the items of a page that is in order, and asks for the rest of a range that is not much
   * longer: the two totals prove both.
   */
  #keepAndContinue(piece: Piece<T>, answer: Answer<T>): boolean {
    const { ids, ats, total } = answer;
    const { step } = this.#options;
    const lowest = piece.from ?? Number.NEGATIVE_INFINITY;
    const highest = piece.to ?? Number.POSITIVE_INFINITY;
    const isUp = isRising(ats);
    const isFull = total !== null && ids.length < total && ids.length >= this.#size;

    // At first places are planned: several slices can be asked for at a time.
    const most = (this.#pace === null ? 2 : fewPages) * this.#size;
    const isShort = total !== null && (total < most || (isUp && this.#isWasteful));
    if (!isFull || !isShort || this.#isMixed || !this.#canCut(piece, answer)) return false;
    if (!ats.every((at) => at >= lowest && at <= highest) || isUp === isRising(ats.toReversed()))
      return false;

    // Between two items that lie apart, so that the two ranges have none in common, however the
    // server reads fractions of seconds.
    const last = ats.findLastIndex((at, i) => Math.abs((ats[i + 1] ?? at) - at) > step);
    const end = Math.min(ats[last] ?? Number.NaN, ats[last + 1] ?? Number.NaN) + step;
    if (!(end > lowest && end < highest)) return false;

    // For less than half of a page, a cut takes fewer requests.
    const count = last + 1;
    if (2 * count < this.#size) return false;
    if (piece === this.#whole) this.#first ??= total;
    if (piece.to === null) this.#left = total;
    const parts: [Piece<T>, Piece<T>] = [
      { from: piece.from, to: end },
      { from: end, to: piece.to },
    ];
    this.#work.splice(this.#work.indexOf(piece), 1, ...parts);
    const [kept, rest] = isUp ? parts : [parts[1], parts[0]];
    this.#learn(count, kept);
    const own = { ...answer, ids: ids.slice(0, count), ats: ats.slice(0, count), total: count };
    const next = this.#ask(rest);
    this.#wait(rest, next);
    this.#wait(
      kept,
      next.then((came) =>
        !(came instanceof Misplaced) && came.total !== null && total === count + came.total
          ? own
          : this.#ask(kept),
      ),
    );
    return true;
  }

  /** Leaves out what was delivered before, and counts what is left. */
  #deliver(piece: Span<number>, gathered: Gathered<T>): Slice<T> {
    const { items, total, sids = [], ...judged } = gathered;
    const fresh: Found<T>[] = [];
    const doubled = [...sids];
    let shared = 0;
    for (const found of items) {
      const id = idOf(found);
      if (this.#seen.add(id) && !this.#isElsewhere(id, found)) fresh.push(found);
      else if (this.#mayComeAgain(id, found, piece)) shared += 1;
      else doubled.push(id);
    }

    this.#keepBorder(items, piece);
    this.#given += 1;
    if (fresh.length > 0) {
      this.#delivered += 1;
      this.#peels = 0;
    }
    if (judged.is === 'proved' && total === 0) this.#empty += 1;

    const { from, to } = piece;
    const whole = { ...judged, from, to, counted: total, shared, calls: fresh.length, at: null };
    const stretches: Stretch<number>[] =
      doubled.length > 0
        ? [{ why: 'doubled', missing: 0, ...whole, is: 'short', sids: doubled }]
        : splitAt(this.#options, whole, items.map(atOf), fresh.map(atOf));
    return { ...this.#sliceOf(piece, fresh), stretches, pages: null };
  }

  #sliceOf(piece: Span<number>, fresh: readonly Found<T>[]) {
    return {
      from: piece.from,
      to: piece.to,
      items: fresh.map(({ answer, index }) => answer.item(index)),
      border: [...this.#border.keys()],
      first: this.#first,
      pace: this.#pace && { ...this.#pace, size: this.#size, left: this.#left },
    };
  }

  /**
   * Whether an item that was delivered may come with this range, too: at a border, or where the
   * clock of the server was changed.
   */
  #mayComeAgain(id: string, found: Found<T>, { from, to }: Span<number>): boolean {
    const at = atOf(found);
    return (
      this.#border.get(id) === at ||
      this.#restored.has(id) ||
      (from !== null && at < from) ||
      (to !== null && at > to)
    );
  }

  /**
   * Whether another range has brought an item, too, although it lies at none of the ends that they
   * may share.
   */
  #isElsewhere(id: string, found: Found<T>): boolean {
    const { others, stray } = this.#options;
    if (others === null || others.add(id)) return false;
    const at = atOf(found);
    const { from, to } = this.#asked;
    return (from === null || at > from + stray) && (to === null || at < to - stray);
  }

  /** Keeps the ids that may come with what follows. */
  #keepBorder(items: readonly Found<T>[], { to }: Span<number>): void {
    const least = to === null ? Number.POSITIVE_INFINITY : to - this.#options.step;
    const found = items.filter((one) => atOf(one) >= least);
    const before = [...this.#border].filter(([, at]) => at >= least);
    this.#border = new Map([...before, ...found.map((one) => [idOf(one), atOf(one)] as const)]);
  }

  /**
   * Reads a range that cannot be cut, or has no totals, page by page, and proves it where all of
   * its totals agree.
   */
  async *#byPages(
    piece: Piece<T>,
    given: Answer<T> | null,
    begun: ReadState<number>['pages'],
  ): AsyncGenerator<Slice<T>, void, void> {
    // A server that gives fewer rows than it was asked for counts its pages by what it gives.
    const isNumbered = given !== null && given.ids.length > 0 && given.next === undefined;
    const most = isNumbered ? given.ids.length : this.#options.rows;
    const rows = begun?.rows ?? Math.min(most, this.#options.rows);
    const cursors = new Set<string | number>();
    let total: number | null | undefined;
    let answer = given;
    let got = 0;
    let calls = begun?.calls ?? 0;
    let after = begun?.after ?? null;
    let isProvable = begun === null;
    const shared = new Set<string>();
    const atEnd = new Map(begun === null ? [] : this.#border);
    for (let page = begun?.done ?? 0; ; page += 1) {
      let next = answer ?? (await this.#ask(piece, page, rows, after));
      for (let pass = 2; next instanceof Misplaced && pass <= tries; pass += 1)
        next = await this.#ask(piece, page, rows, after);
      answer = null;
      if (next instanceof Misplaced) throw next.cause;
      if (judge(next, piece, this.#options) === 'outside') throw new StreamError('range_ignored');
      if (piece === this.#whole) this.#first ??= next.total;
      total = total === undefined ? next.total : total;
      isProvable &&=
        total !== null &&
        (next.total === total || next.ids.length === 0) &&
        next.next === undefined;
      const fresh: Found<T>[] = [];
      const before = shared.size;
      for (const [index, id] of next.ids.entries()) {
        const found = { answer: next, index };
        if (this.#seen.add(id)) fresh.push(found);
        else if (this.#mayComeAgain(id, found, piece)) shared.add(id);
        if (piece.to !== null && (next.ats[index] ?? 0) >= piece.to - this.#options.step)
          atEnd.set(id, next.ats[index] ?? 0);
      }
      got += next.ids.length;
      calls += fresh.length;
      this.#given += 1;
      if (fresh.length > 0) this.#delivered += 1;
      const cursor = next.next;
      const isCursor = typeof cursor === 'string' || typeof cursor === 'number';
      if (isCursor) {
        if (cursors.has(cursor))
          throw new StreamError(
            'too_many_requests',
            'The list gave a cursor twice: it would go on without end.',
          );
        cursors.add(cursor);
        after = cursor;
      }
      // A full page that ends with the total may come from a server that counts no further.
      const isDone = total !== null && got >= total && next.ids.length < rows;
      const isSame = fresh.length === 0 && shared.size === before;
      if (isCursor || !(cursors.size > 0 || next.next === null || isSame || isDone)) {
        const pages = { done: page + 1, rows, after, calls, left: 0 };
        const border = [...new Set([...this.#border.keys(), ...atEnd.keys(), ...next.ids])];
        yield { ...this.#sliceOf(piece, fresh), border, stretches: null, pages };
        if (this.#given < this.#options.most) continue;
        this.#work = [];
        return;
      }
      this.#work.shift();
      this.#border = atEnd;
      const { from, to } = piece;
      const missing = total === null ? 0 : total - calls - shared.size;
      let judged: Pick<Stretch, 'is' | 'why' | 'missing'> = { is: 'unproven', why: 'unsteady' };
      if (total === null) judged = { is: 'unproven', why: 'no_total' };
      else if (isProvable && missing > 0) judged = { is: 'short', why: 'fewer', missing };
      else if (isProvable && missing === 0 && got === total) judged = { is: 'proved' };
      const stretch = { ...judged, from, to, counted: total, shared: shared.size, calls, at: null };
      yield { ...this.#sliceOf(piece, fresh), stretches: [stretch], pages: null };
      return;
    }
  }
}
