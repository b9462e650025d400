import { type ChainSource, type Inlet, openSource, type Packet } from './packets.ts';
import { isPromise, Part, type Step, Stopped } from './step.ts';

/** Items that wait in front of a step, because they or the reader were not reached. */
export interface Left {
  /** The number of the step; that of the reader comes after the last. */
  readonly at: number;
  /** What the step is still to take in. */
  readonly items: readonly unknown[];
  /** With them, all from before this time have come. */
  readonly passed?: string | null;
}

/** What the steps of a chain keep. */
export interface ChainState {
  readonly states: readonly unknown[];
  readonly left: readonly Left[];
}

/** One read through a chain: each call of `next` pulls a packet of the source through the steps. */
export class Run<I, O> {
  readonly #source: ChainSource<I>;
  readonly #steps: readonly Step<unknown, unknown>[];
  readonly #left: Left[];
  #inlet: Inlet<I> | null = null;
  #coming: Promise<Packet<I> | null> | null = null;
  #position: unknown;
  #failure: { readonly error: unknown } | null = null;
  #isExact = true;
  /** The number of steps that were told the end; null before it. */
  #ended: number | null = null;
  #isClosed = false;

  constructor(
    source: ChainSource<I>,
    steps: readonly Step<unknown, unknown>[],
    from: { readonly position: unknown; readonly left: readonly Left[] },
  ) {
    this.#source = source;
    this.#steps = steps;
    this.#position = from.position;
    // What is further along goes on first.
    this.#left = [...from.left].sort((a, b) => a.at - b.at);
  }

  /** Where the source goes on after the packet that came last; undefined when it has no positions. */
  get position(): unknown {
    return this.#position;
  }

  /** What the steps keep now. Null when that cannot be said: after the end, or when a step was left half way. */
  state(): ChainState | null {
    const states = this.#steps.map((step) => (step.save === undefined ? null : step.save()));
    if (!this.#isExact || states.includes(undefined)) return null;
    if (this.#ended !== null && states.some((each) => each !== null)) return null;
    return { states, left: [...this.#left] };
  }

  /** What comes out next, which may be nothing yet; null at the end. Throws what has failed after what came out before it. */
  async next(): Promise<readonly O[] | null> {
    if (this.#failure !== null) throw this.#failure.error;
    if (this.#isClosed) return null;
    const left = this.#left.pop();
    if (left !== undefined) return this.#push(left.at, left.items, left.passed ?? null);
    if (this.#ended !== null) return this.#end(this.#ended);
    this.#inlet ??= openSource(this.#source, this.#position);
    this.#coming ??= this.#inlet.next();
    const dues = this.#steps.flatMap((step) => step.due?.() ?? []);
    const packet = await (dues.length === 0
      ? this.#coming
      : Promise.race([this.#coming, ...dues.map((due) => due.then(() => 'tick' as const))]));
    if (packet === 'tick') return this.#tick();
    this.#coming = null;
    if (packet === null) return this.#end(0);
    this.#position = packet.position;
    return this.#push(0, packet.items, packet.passed);
  }

  /** Ends the source. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // What it was asked for comes too late.
    this.#coming?.catch(() => {});
    if (this.#inlet !== null && this.#ended === null) await this.#inlet.close();
  }

  async #end(at: number): Promise<readonly O[] | null> {
    this.#ended = at + 1;
    const step = this.#steps[at];
    if (step === undefined) return null;
    return this.#push(at + 1, (await step.end?.()) ?? [], null);
  }

  async #tick(): Promise<readonly O[]> {
    const out: O[] = [];
    for (const [at, step] of this.#steps.entries())
      out.push(...(await this.#push(at + 1, step.tick?.() ?? [], null)));
    return out;
  }

  /** Moves items from one step to the next. A failure waits until what came out before it is delivered. */
  async #push(from: number, items: readonly unknown[], passed: string | null): Promise<readonly O[]> {
    let [out, before] = [items, passed];
    for (const [at, step] of this.#steps.entries()) {
      if (at < from) continue;
      if (out.length > 0) {
        try {
          const taken = step.take(out);
          const given = isPromise(taken) ? await taken : taken;
          if (given instanceof Part) {
            const rest = out.slice(given.taken);
            if (rest.length > 0 || before !== null)
              this.#left.push({ at, items: rest, ...(before === null ? {} : { passed: before }) });
            before = null;
            out = given.out;
          } else out = given;
        } catch (error) {
          out = this.#stopAt(at, step, { items: out, passed: before }, error);
          before = null;
        }
      }
      if (before === null || step.passed === undefined) continue;
      const more = step.passed(before);
      if (more.out.length > 0) out = [...out, ...more.out];
      before = more.before;
    }
    return out as readonly O[];
  }

  #stopAt(
    at: number,
    step: Step<unknown, unknown>,
    { items, passed }: Omit<Left, 'at'>,
    error: unknown,
  ): readonly unknown[] {
    const isMidway = error instanceof Stopped;
    this.#failure = { error: isMidway ? error.cause : error };
    this.#left.push({
      at,
      items: isMidway ? items.slice(error.taken) : items,
      ...(passed == null ? {} : { passed }),
    });
    // Nobody knows how far a step came that fails without saying it.
    if (!isMidway && step.save !== undefined) this.#isExact = false;
    return isMidway ? error.out : [];
  }
}
