import { StreamError } from '../errors.ts';
import { type Range, type ReadState, type Stretch, splitAt } from '../proof.ts';
import { allowed, begun, continued, countOf, type Found, judge, type Keeping } from './allowed.ts';
import { byPages } from './by-pages.ts';
import { choose, endOf, mayAskAhead, type Split } from './choose.ts';
import { type Facts, factsBefore, learn, seenIn } from './facts.ts';
import {
  type Answer,
  type Item,
  type Limits,
  type ListSource,
  Misplaced,
  type Pace,
  type SliceOptions,
} from './list.ts';
import { type Arrival, type Piece, Queue, type Request } from './queue.ts';
import { Requests } from './requests.ts';
import { Seen } from './seen.ts';

/** Items that are delivered together. */
export interface Slice<I extends Item> extends Range {
  readonly items: readonly I[];
  /** What was read with it; null while a range goes on. */
  readonly stretches: readonly Stretch[] | null;
  /** Ids that come again with what follows. */
  readonly border: readonly string[];
  /** Of a range that goes on: how far it is. */
  readonly pages: ReadState['pages'];
  /** What the first answer of all counted. */
  readonly first: number | null;
  /** How close items lie here; null while that is not known. */
  readonly pace: Pace | null;
}

/** Reads ranges of a list, which are in order: slice after slice, each item once. */
export const slices = <I extends Item>(
  source: ListSource<I>,
  ranges: readonly Range[],
  options: SliceOptions,
): AsyncGenerator<Slice<I>, void, void> => new SliceReader(source, ranges, options).read();

class SliceReader<I extends Item> {
  readonly #options: SliceOptions;
  readonly #queue: Queue<I>;
  readonly #requests: Requests<I>;
  readonly #seen: Seen<I>;
  #facts: Facts;
  /** What the first answer of all counted. */
  #first: number | null = null;
  /** Slices that were delivered. */
  #given = 0;

  constructor(source: ListSource<I>, ranges: readonly Range[], options: SliceOptions) {
    const asked = { from: ranges[0]?.from ?? null, to: ranges.at(-1)?.to ?? null };
    this.#options = options;
    this.#queue = new Queue(ranges, options.pace === null);
    this.#requests = new Requests(source, options);
    this.#seen = new Seen(asked, options);
    this.#facts = factsBefore(options);
  }

  async *read(): AsyncGenerator<Slice<I>, void, void> {
    try {
      yield* this.#inOrder();
    } catch (error) {
      if (this.#options.keepsArrived) yield* this.#arrived();
      throw error;
    }
  }

  /**
   * Takes what came, and does with the first piece what is best of what is allowed, until all are
   * delivered. Where its answer is on its way, asks for what comes next, and waits. While nobody
   * waits for a slice, nothing is asked for.
   */
  async *#inOrder(): AsyncGenerator<Slice<I>, void, void> {
    const { from, most } = this.#options;
    const queue = this.#queue;
    if (queue.head !== undefined && from !== null && from.pages !== null)
      yield* this.#byPages(queue.head, from.pages);

    while (queue.head !== undefined) {
      for (const arrival of queue.arrivals()) this.#take(arrival);
      const { head } = queue;
      if (head.state === 'failed') throw head.error;
      if (head.state !== 'answered') {
        this.#askAhead(true);

        // What is on its way is delivered, also when no more may be asked for.
        if (queue.head?.state === 'new') return;
        await queue.arrival();
        continue;
      }

      const may = allowed(head, head.tries, this.#options);
      const step = choose(may, this.#facts, this.#options, head.look);
      switch (step.kind) {
        case 'deliver': {
          const slice = this.#deliver(head, step.found);
          this.#askAhead(false);
          yield slice;
          break;
        }
        case 'pages':
          yield* this.#byPages(head, null);
          break;
        case 'split':
        case 'keep':
          if (this.#given >= most) return;
          if (step.kind === 'split') this.#split(head, step);
          else this.#keep(head, step.keep);
          break;
        case 'again':
          this.#ask(head, firstPage);
          break;
        default:
          this.#ask(head, step, step.rows);
      }
    }
  }

  #ask(piece: Piece<I>, request: Request, rows = this.#options.rows): void {
    const { page } = request;
    this.#queue.expect(piece, request, this.#requests.ask(piece, { page, rows }));
  }

  /** Asks for what comes next: each piece up to where a slice of it should end. */
  #askAhead(isAwaited: boolean): void {
    const { most } = this.#options;
    for (let i = 0; i < this.#queue.pieces.length && this.#given < most; i += 1) {
      const piece = this.#queue.pieces[i] as Piece<I>;
      if (i > 0 && !this.#mayAskAhead(isAwaited)) return;
      if (piece.state !== 'new') continue;
      const isWhole = piece.isFirst || piece.isCut;
      const end = isWhole ? null : endOf(piece, this.#facts, this.#options, i);
      const [next = piece] = end === null ? [] : this.#queue.cut(piece, [end], false);
      this.#ask(next, firstPage);
    }
  }

  #mayAskAhead(isAwaited: boolean): boolean {
    const asked = this.#queue.pieces.filter(({ state }) => state !== 'new');
    const ahead = {
      asked: asked.length,
      open: this.#requests.open,
      held: asked.reduce((sum, { tries }) => sum + (tries.at(-1)?.got ?? 0), 0),
      left: this.#options.most - this.#given,
      isAwaited,
    };
    return mayAskAhead(ahead, this.#facts, this.#options);
  }

  /** Takes an answer. Where a part of it can be kept, the rest is asked for before its turn. */
  #take({ piece, request, answer }: Arrival<I>): void {
    const { answered } = this.#requests;
    take(piece, request, answer, this.#options);
    this.#facts = { ...this.#facts, answers: answered };
    const one = piece.tries.at(-1);
    if (request.kind === 'look' || one === undefined) return;
    this.#facts = learn(this.#facts, piece, one, this.#options);
    if (piece.isFirst && request.kind === 'again') this.#first ??= countOf(one);
    const may = allowed(piece, piece.tries, this.#options);
    const isNew = request.kind === 'next' && one.page.some(({ id }) => !this.#seen.has(id));
    if (isNew && may.split === null) this.#requests.brought();
    if (piece === this.#queue.head || !this.#mayAskAhead(true)) return;
    const step = choose(may, this.#facts, this.#options);
    if (step.kind === 'keep') this.#keep(piece, step.keep);
  }

  #split(piece: Piece<I>, { places, isShown, isPeel, density, total }: Split): void {
    this.#queue.cut(piece, places, isShown);
    if (isPeel) this.#facts = { ...this.#facts, peels: this.#facts.peels + 1 };
    if (density !== null) this.#facts = { ...this.#facts, density };
    if (piece.to === null) this.#facts = { ...this.#facts, left: total };
  }

  /** Keeps items of a page if what is left of its piece turns out to be all others. */
  #keep(piece: Piece<I>, { items, end, isUp, others }: Keeping<I>): void {
    const [before, after] = this.#queue.cut(piece, [end], false) as [Piece<I>, Piece<I>];
    const [kept, rest] = isUp ? [before, after] : [after, before];
    this.#facts = { ...this.#facts, ...seenIn(this.#facts, kept, items.length) };
    if (piece.to === null) this.#facts = { ...this.#facts, left: items.length + others };
    const answer = this.#requests.ask(rest);
    const own = answer.then((came) => {
      const isAll = !(came instanceof Misplaced) && came.total === others;
      return isAll ? { items, total: items.length } : this.#requests.ask(kept);
    });
    this.#queue.expect(rest, firstPage, answer);
    this.#queue.expect(kept, firstPage, own);
  }

  /** Leaves out what was delivered before, and counts what is left. */
  #deliver(piece: Piece<I>, found: Found<I>): Slice<I> {
    const { items, total, refusal, sids = [], ...judged } = found;

    // Nothing at all was understood: that is no gap, but a server that cannot be read.
    if (refusal !== undefined && this.#first === null && this.#requests.slices === 0)
      throw refusal.cause;
    const { fresh, shared, doubled } = this.#seen.sort(items, piece);
    this.#seen.keepBorder(items, piece);
    this.#queue.shift();
    this.#given += 1;
    this.#facts = { ...this.#facts, left: this.#facts.left - items.length };
    if (fresh.length > 0) {
      this.#requests.brought();
      this.#facts = { ...this.#facts, peels: 0 };
    }

    const { from, to } = piece;
    const counts = { counted: total, shared, calls: fresh.length, at: null };
    const whole = { ...judged, from, to, ...counts };
    const twice = [...sids, ...doubled];
    const stretches: Stretch[] =
      twice.length > 0
        ? [{ why: 'doubled', missing: 0, ...whole, is: 'short', sids: twice }]
        : splitAt(whole, this.#options, items, fresh);
    return this.#sliceOf(piece, {
      items: fresh,
      border: this.#seen.border,
      stretches,
      pages: null,
    });
  }

  #sliceOf(
    { from, to }: Range,
    rest: Pick<Slice<I>, 'items' | 'border' | 'stretches' | 'pages'>,
  ): Slice<I> {
    const { density, size, left } = this.#facts;
    const pace = density && { items: density.items, width: density.width, size, left };
    return { from, to, first: this.#first, pace, ...rest };
  }

  async *#byPages(
    piece: Piece<I>,
    begun: ReadState['pages'],
  ): AsyncGenerator<Slice<I>, void, void> {
    const first = piece.tries.at(-1)?.first ?? null;
    const given = first instanceof Misplaced ? null : first;
    const parts = byPages(piece, given, begun, this.#requests, this.#seen, this.#options);
    for await (const { total, stretch, ...part } of parts) {
      if (piece.isFirst) this.#first ??= total;
      this.#given += 1;
      if (stretch !== null) this.#queue.shift();
      yield this.#sliceOf(piece, { ...part, stretches: stretch && [stretch] });
      if (stretch === null && this.#given >= this.#options.most) return this.#queue.clear();
    }
  }

  /** What has arrived of the slices that are on their way, where one answer is all of a slice. */
  *#arrived(): Generator<Slice<I>, void, void> {
    for (const { piece, request, answer } of this.#queue.arrivals())
      take(piece, request, answer, this.#options);
    for (const piece of this.#queue.pieces) {
      if (piece.state !== 'answered' || piece.tries.length > 1) continue;
      const { deliver } = allowed(piece, piece.tries, this.#options);
      if (deliver?.is === 'proved') yield this.#deliver(piece, deliver);
    }
  }
}

const firstPage = { kind: 'again', page: 0 } as const;

/** Adds an answer to what came of a piece. */
function take<I extends Item>(
  piece: Piece<I>,
  { kind, page }: Request,
  answer: Answer<I> | Misplaced,
  limits: Limits,
): void {
  const last = piece.tries.at(-1);
  piece.state = 'answered';
  if (kind === 'look') {
    const items = answer instanceof Misplaced ? [] : answer.items;
    if (!(answer instanceof Misplaced) && judge(answer, piece, limits) === 'outside')
      throw new StreamError('range_ignored');
    piece.look = { page, ats: items.map(({ at }) => at).filter(Number.isFinite) };
  } else if (kind === 'next' && last !== undefined)
    piece.tries = [...piece.tries.slice(0, -1), continued(last, answer, piece, limits)];
  else piece.tries = [...piece.tries, begun(answer, piece, limits)];
}
