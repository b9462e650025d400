import { ConfigurationError } from '@call-attribution/core/errors';
import { checkCheckpoint, checkpointOf } from '../checkpoint.ts';
import { CheckpointError } from '../errors.ts';
import type { Checkpoint, Page, ReadFacts, Source, Stage } from '../page.ts';
import type { Position, Verdict } from '../verdict.ts';
import { checkFields } from './fields.ts';
import type { AnyOperator, Chain, Done, Operator, OperatorShape, Sink } from './operator.ts';
import { type Input, isPromise, leavable, noPositions, notResumable, sourceOf } from './sources.ts';

/** What a chain keeps in a checkpoint. */
interface SavedChain {
  /** The operators with what of their settings decides about their output, each as JSON. */
  readonly of: readonly string[];
  readonly states: readonly unknown[];
  /** All was given out: there is nothing more to read. */
  readonly isEnded: boolean;
}

class OperatorChain<T> implements Chain<T> {
  readonly calls = null;
  readonly hasTime = false;
  readonly startsAt = null;
  readonly of: string | null;
  readonly unsaved: string | null;
  readonly facts: ReadFacts | null;
  readonly signal: AbortSignal | null;
  readonly #source: Source<unknown>;
  readonly #operators: readonly AnyOperator[];
  readonly #abort = new AbortController();
  #isBegun = false;
  /** There is nothing to read, and so nothing is proved. */
  #isEnded = false;
  #isLeft = false;

  constructor(source: Source<unknown>, operators: readonly AnyOperator[]) {
    if (operators.some((each) => typeof Object(each).begin !== 'function'))
      throw new ConfigurationError(
        'invalid_option',
        "through() takes operators, such as filterCalls('talk_minutes:[2 TO *]'). A function becomes one with mapCalls(fn).",
      );

    this.#source = source;
    this.#operators = operators;
    this.facts = source.facts;
    this.signal = source.signal;
    this.unsaved = operators.find(({ unsaved }) => unsaved != null)?.unsaved ?? null;
    if (source.of === null) this.unsaved = noPositions;
    this.of = this.unsaved === null ? source.of : null;
  }

  verdict(): Verdict<Position> | null {
    return this.#isEnded ? null : this.#source.verdict();
  }

  through(...operators: readonly AnyOperator[]): Chain<never> {
    return new OperatorChain(this.#source, [...this.#operators, ...operators]);
  }

  async into<W extends object>(sink: Sink<T, W>): Promise<Done<W>> {
    if (typeof sink !== 'function')
      throw new ConfigurationError(
        'invalid_option',
        `into() takes a sink, not ${typeof sink === 'object' ? 'an object' : `a ${typeof sink}`}. For a file: into(fileSink('calls.csv')), with fileSink of @call-attribution/node-stream/sinks`,
      );

    const written = await sink(this);
    const verdict = this.verdict();
    return { ...written, verdict, proof: verdict?.proof ?? null };
  }

  async toArray(): Promise<T[]> {
    const all: T[] = [];
    for await (const { items } of this.pages()) for (const item of items) all.push(item);
    return all;
  }

  pages(from: Checkpoint | null = null): AsyncGenerator<Page<T>, void, void> {
    return leavable(this.#walk(from), () => {
      this.#isLeft = true;
      this.#abort.abort();
    });
  }

  [Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    const pages = this.pages();
    const items = async function* (): AsyncGenerator<T, void, void> {
      for await (const page of pages) for (const item of page.items) yield item;
    };
    return leavable(items(), () => void pages.return());
  }

  async *#walk(from: Checkpoint | null): AsyncGenerator<Page<T>, void, void> {
    if (this.#isBegun)
      throw new ConfigurationError(
        'invalid_option',
        'This chain is already being read. Make another one, with a source of its own.',
      );

    this.#isBegun = true;
    const saved = this.#open(from ?? this.#source.startsAt);
    this.#isEnded = saved.isEnded;
    if (saved.isEnded) return;
    const stages = this.#begin(saved.states);
    const pages = this.#source.pages(saved.position);
    const { signal } = this.#abort;
    const close = () => void pages.return().catch(() => {});
    signal.addEventListener('abort', close, { once: true });
    try {
      let last: Page<unknown> | null = null;
      for await (const page of pages) {
        last = page;
        let isPast = false;
        // Made when it is asked for, since operators may keep much.
        yield pageOf(await flow<T>(stages, page), () => {
          if (!isPast) return this.#save(page, stages);
          throw new ConfigurationError(
            'invalid_option',
            'Ask for the checkpoint of a page before the next one.',
          );
        });
        isPast = true;
      }
      // A source that was closed because of an abort has not come to its end.
      signal.throwIfAborted();
      const rest = await endOf<T>(stages);
      yield pageOf(rest, () => this.#save(last ?? saved.position, null));
    } catch (error) {
      if (!this.#isLeft) throw error;
    } finally {
      signal.removeEventListener('abort', close);
      this.#abort.abort();
    }
  }

  /** What an earlier run has saved. Throws for what was changed, or belongs to another chain. */
  #open(
    given: Checkpoint | null,
  ): Omit<SavedChain, 'of'> & { readonly position: Checkpoint | null } {
    if (given === null) return { position: null, states: [], isEnded: false };
    if (this.unsaved !== null) throw notResumable(this.unsaved);
    const { of, read, chain } = checkCheckpoint(given, this.#source.of ?? '');
    const saved = (chain ?? { of: [], states: [], isEnded: false }) as SavedChain;
    const now = this.#operators.map(described);
    if (JSON.stringify(now) !== JSON.stringify(saved.of))
      throw new CheckpointError(
        'checkpoint_invalid',
        'The checkpoint belongs to another chain. Use the same operators, columns and encoders, or start without the checkpoint.',
      );

    return { position: checkpointOf(of, read), states: saved.states, isEnded: saved.isEnded };
  }

  /** The checkpoint after a page, or after the end, when no stage keeps anything any more. */
  #save(after: Page<unknown> | Checkpoint | null, stages: readonly Running[] | null): Checkpoint {
    if (this.unsaved !== null) throw notResumable(this.unsaved);
    const position = after !== null && 'items' in after ? after.checkpoint : after;
    if (stages?.length === 0 && position !== null) return checkpointOf(position.of, position.read);
    const chain: SavedChain = {
      of: this.#operators.map(described),
      states: (stages ?? []).map(({ stage }) => stage.save?.() ?? null),
      isEnded: stages === null,
    };
    return checkpointOf(this.#source.of ?? '', position?.read ?? null, chain);
  }

  #begin(states: readonly unknown[]): Running[] {
    const { calls, signal } = this.#source;
    const abort = this.#abort;
    if (signal?.aborted === true) abort.abort(signal.reason);
    else
      signal?.addEventListener('abort', () => abort.abort(signal.reason), { signal: abort.signal });

    let isCall = calls !== null;
    let { hasTime } = this.#source;
    return this.#operators.map((operator, at) => {
      if (isCall) checkFields(operator.kind, operator.fields);
      const stage = operator.begin(states[at] ?? null, abort.signal);
      const running = { operator, stage, hasTime, isChecked: isCall };
      isCall &&= operator.gives === 'same';
      hasTime &&= operator.gives !== 'other';
      return running;
    });
  }
}

interface Running {
  readonly operator: AnyOperator;
  readonly stage: Stage<unknown, unknown>;
  readonly hasTime: boolean;
  /** The fields that it reads are there. */
  isChecked: boolean;
}

async function flow<T>(
  stages: readonly Running[],
  page: Pick<Page<unknown>, 'items' | 'range'>,
): Promise<readonly T[]> {
  let { items } = page;
  for (const running of stages) {
    const passed = running.hasTime ? page.range : null;
    if (items.length === 0 && passed === null) continue;
    if (!running.isChecked && items.length > 0) {
      checkFields(running.operator.kind, running.operator.fields, items[0]);
      running.isChecked = true;
    }
    const out = running.stage.page(items, passed);
    items = isPromise(out) ? await out : out;
  }

  return items as readonly T[];
}

/** What the stages give at the end, one after the other: each gets what those before it gave. */
async function endOf<T>(stages: readonly Running[]): Promise<readonly T[]> {
  let all: T[] = [];
  for (const [at, { stage }] of stages.entries()) {
    const rest = (await stage.end?.()) ?? [];
    const out = await flow<T>(stages.slice(at + 1), { items: rest, range: null });
    all = all.length === 0 ? [...out] : all.concat(out);
  }

  return all;
}

const pageOf = <T>(items: readonly T[], save: () => Checkpoint): Page<T> => ({
  items,
  range: null,
  get checkpoint() {
    return save();
  },
});

const described = ({ kind, settings }: AnyOperator): string =>
  JSON.stringify([kind, settings ?? null]);

/**
 * Sends the items of anything that can be iterated, or of a stream of calls, through operators.
 *
 * @example
 * for await (const row of through(calls, filterCalls('talk_minutes:[2 TO *]'), aggregate({
 * measures: { calls: count() } })))
 *   console.log(row.calls);
 */
export function through<T, A>(source: Input<T>, a: Operator<T, A>): Chain<A>;
export function through<T, A, B>(source: Input<T>, a: Operator<T, A>, b: Operator<A, B>): Chain<B>;
/** The same for none, which `.through()` of the chain adds to, and for any number of operators. */
export function through<T>(source: Input<T>): Chain<T>;
export function through(
  source: Input<unknown>,
  ...operators: readonly AnyOperator[]
): Chain<unknown>;
export function through(
  source: Input<unknown>,
  ...operators: readonly AnyOperator[]
): Chain<unknown> {
  return chainOf(source, operators);
}

/** A chain whose items are what whoever asks for it says. */
export function chainOf<T>(source: Input<unknown>, operators: readonly AnyOperator[]): Chain<T> {
  const isChain = source instanceof OperatorChain;
  return isChain ? source.through(...operators) : new OperatorChain(sourceOf(source), operators);
}

/**
 * Makes an operator of your own. Its state is saved between pages, so that `page` may keep it as it
 * likes.
 *
 * @example
 * const totals = defineOperator<number, number>({
 *   name: 'totals',
 *   gives: 'other',
 *   begin(state) {
 *     let sum = Number(state);
 *     return { page: (items) => items.map((item) => (sum += item)), save: () => sum };
 *   },
 * });
 */
export function defineOperator<I, O>({ name, ...shape }: OperatorShape<I, O>): Operator<I, O> {
  if (!['same', 'new', 'other'].includes(shape.gives))
    throw new ConfigurationError(
      'invalid_option',
      `The operator ${name} has to say what it gives: 'same' items or none, 'new' ones of the same time, or 'other' ones.`,
    );

  const operator: Operator<I, O> = Object.assign(
    (source: Input<I>): Chain<O> => through(source, operator),
    shape,
    { kind: name },
  );
  return operator;
}
