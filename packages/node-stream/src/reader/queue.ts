import type { Range } from '../proof.ts';
import type { Try } from './allowed.ts';
import type { Look } from './choose.ts';
import type { Answer, Item, Misplaced } from './list.ts';

/** A request for a piece: its first page once more, the next page of a try, or a look at one. */
export interface Request {
  readonly kind: 'again' | 'next' | 'look';
  readonly page: number;
}

/** A range that is read by itself, and what came of it. */
export interface Piece<I extends Item> extends Range {
  /** It ends where an answer has shown: no other end is planned. */
  readonly isCut: boolean;
  /** It is all of the first range: its first answer counts everything. */
  readonly isFirst: boolean;
  /** What came, each time that it was asked for. */
  tries: readonly Try<I>[];
  look: Look | null;
  /** `new`: nobody has asked for it. `asked`: an answer is on its way. */
  state: 'new' | 'asked' | 'answered' | 'failed';
  /** What a request has failed with. */
  error: unknown;
}

/** An answer, what was asked for, and the piece that it is for. */
export interface Arrival<I extends Item> {
  readonly piece: Piece<I>;
  readonly request: Request;
  readonly answer: Answer<I> | Misplaced;
}

const pieceOf = <I extends Item>(
  { from, to }: Range,
  { isCut = false, isFirst = false } = {},
): Piece<I> => ({
  from,
  to,
  isCut,
  isFirst,
  tries: [],
  look: null,
  state: 'new',
  error: undefined,
});

/** The pieces of a list in order, and the answers for them in the order in which they came. */
export class Queue<I extends Item> {
  #pieces: readonly Piece<I>[];
  #arrivals: readonly Arrival<I>[] = [];
  #wake: (() => void) | null = null;

  /** @param hasAll the first range is asked for as a whole. */
  constructor(ranges: readonly Range[], hasAll: boolean) {
    this.#pieces = ranges.map((range, i) => pieceOf(range, { isFirst: hasAll && i === 0 }));
  }

  get pieces(): readonly Piece<I>[] {
    return this.#pieces;
  }

  /** The piece that is delivered next. */
  get head(): Piece<I> | undefined {
    return this.#pieces[0];
  }

  /** The head was delivered. */
  shift(): void {
    this.#pieces = this.#pieces.slice(1);
  }

  /** Nothing more is delivered. */
  clear(): void {
    this.#pieces = [];
  }

  /**
   * Cuts a piece. Its parts share the places where it was cut, so that nothing lies between them.
   *
   * @param isShown answers have shown these places: the parts that end there end nowhere else.
   */
  cut(piece: Piece<I>, places: readonly number[], isShown: boolean): readonly Piece<I>[] {
    const parts = [...places, piece.to].map((to, i) => {
      const from = places[i - 1] ?? piece.from;
      return pieceOf<I>({ from, to }, { isCut: isShown && i < places.length });
    });
    this.#pieces = this.#pieces.flatMap((one) => (one === piece ? parts : [one]));
    return parts;
  }

  /** Waits for the answer to a request for a piece. */
  expect(piece: Piece<I>, request: Request, answer: Promise<Answer<I> | Misplaced>): void {
    piece.state = 'asked';
    answer
      .then(
        (came) => {
          this.#arrivals = [...this.#arrivals, { piece, request, answer: came }];
        },
        (error: unknown) => {
          piece.state = 'failed';
          piece.error = error;
        },
      )
      .finally(() => this.#wake?.());
  }

  /** The answers that came since the last time. */
  arrivals(): readonly Arrival<I>[] {
    const came = this.#arrivals;
    this.#arrivals = [];
    return came;
  }

  /** Waits until something has come, or failed. */
  arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#arrivals.length > 0 || this.head?.state === 'failed') resolve();
    });
  }
}
