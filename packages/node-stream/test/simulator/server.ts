import type { Range } from '../../src/proof.ts';
import type { Answer, Ask, Item, ListSource } from '../../src/reader/list.ts';
import type { PageTotal, Rows, Totals } from '../../src/totals.ts';
import type { Dice } from './dice.ts';

/** A record of the model: what the reader can see of it. */
export interface ModelRecord {
  readonly sid: string;
  /** When the call was made, in milliseconds, on a clock that is never changed. */
  readonly instant: number;
  /** `date_added`, as the server's clock showed it: whole seconds. */
  readonly time: number;
  /** Grows with each change of its contents. */
  readonly version: number;
}

/** A record as an item of a list. */
export interface ModelItem extends Item {
  readonly record: ModelRecord;
}

/** How records follow each other in a list. `unstable`: in another order with each response. */
export type Order = 'oldest' | 'newest' | 'arrival' | 'scattered' | 'unstable';

/** Ways a server behaves. */
export interface Traits {
  readonly order: Order;
  /** Rows it gives at most, and how often it gives fewer for no reason. */
  readonly clamp: number;
  readonly whim: number;
  /**
   * `lagging`: totals of some moves ago. `ghost`: counts a record that no list holds. `page`: the
   * rows of the page. `huge`: any number. `capped`: no more than `cap`. `notOnLast`: none on the
   * last page of a list.
   */
  readonly totals: 'true' | 'none' | 'lagging' | 'ghost' | 'page' | 'huge' | 'capped' | 'notOnLast';
  readonly cap: number;
  /** How often an answer has no total, for no reason. */
  readonly dropping: number;
  /**
   * By how many moves a whole response may be out of date, each by itself, as from one of several
   * replicas.
   */
  readonly replicaLag: number;
  /** Does not filter by `date_added`. */
  readonly ignoresRanges: boolean;
  /** Requests that fail for good, and pages that are not what was asked for, as parts of all. */
  readonly failing: number;
  readonly misplacing: number;
  /**
   * How lists go on: by numbers of pages, or by what each page gives; and how often such a page is
   * empty in the middle.
   */
  readonly onward: 'numbers' | 'cursors';
  readonly emptyPages: number;
  /** Gives the first page for any other one. */
  readonly repeatsPages: boolean;
  /**
   * Gives some records twice, the second time with other contents; and counts these once, in pages
   * as long as any.
   */
  readonly doubles: number;
  readonly countsOnce: boolean;
  /** Counts more in the first answer than in all later ones. */
  readonly countsMoreAtFirst: boolean;
  /** Keeps parts of seconds that it does not show. */
  readonly hasFractions: boolean;
  /**
   * A change of its clock: when, by how much it is put on (or back), and which of two instants a
   * time stands for.
   */
  readonly clockChange: {
    readonly at: number;
    readonly by: number;
    readonly reads: 'earlier' | 'later';
  } | null;
}

/** The bounds of the query itself, as times of its clock; both ends belong to it. */
export interface QueryBounds {
  readonly from: number | null;
  readonly to: number | null;
}

/** A list of records that moves, behind a server with traits. */
export class ModelServer {
  readonly traits: Traits;
  readonly #dice: Dice;
  /** All states of the list that a response may still show, the newest last. */
  #versions: (readonly ModelRecord[])[];
  /**
   * Records that a response held back although its total says that it held all: nobody can tell.
   */
  readonly hidden = new Set<string>();
  /** All records that ever were, by sid: a cursor may name one that is gone. */
  readonly #known = new Map<string, ModelRecord>();
  readonly #middle: ModelRecord | undefined;
  #answers = 0;
  /** What it counted when it was asked for totals alone. */
  readonly counts: { readonly range: Range; readonly found: number | null }[] = [];

  constructor(records: readonly ModelRecord[], traits: Traits, dice: Dice) {
    this.traits = traits;
    this.#dice = dice;
    this.#versions = [[...records].sort(comparing(traits.order))];
    this.#middle = this.records[this.records.length >> 1];
    for (const record of records) this.#known.set(record.sid, record);
  }

  get records(): readonly ModelRecord[] {
    return this.#versions.at(-1) as readonly ModelRecord[];
  }

  insert(record: ModelRecord): void {
    const compare = comparing(this.traits.order);
    this.#known.set(record.sid, record);
    const at = this.records.findIndex((other) => compare(record, other) < 0);
    this.#move(at < 0 ? [...this.records, record] : this.records.toSpliced(at, 0, record));
  }

  remove(at: number): void {
    this.#move(this.records.toSpliced(at, 1));
  }

  update(at: number): void {
    const record = this.records[at] as ModelRecord;
    this.#move(this.records.with(at, { ...record, version: record.version + 1 }));
  }

  /** Whether a range covers a record, as this server reads its bounds. */
  covers({ from, to }: Range, { instant }: ModelRecord): boolean {
    const first = this.#instantOf(from);
    const last = this.#instantOf(to);
    return (first === null || instant >= first) && (last === null || instant <= last);
  }

  /** Records near a change of the clock, which may come with ranges that they do not show. */
  isAstray(time: number): boolean {
    const { clockChange } = this.traits;
    return clockChange !== null && Math.abs(time - clockChange.at) <= 2 * Math.abs(clockChange.by);
  }

  /** Whether a record comes twice. */
  isDoubled({ sid }: ModelRecord): boolean {
    return scrambled(sid) % 100 < this.traits.doubles * 100;
  }

  respond(request: Omit<Ask, 'signal'>): Answer<ModelItem> | 'failed' | 'misplaced' {
    const { failing, misplacing, replicaLag, order, onward, repeatsPages, totals, countsOnce } =
      this.traits;
    if (failing > 0 && this.#dice.chance(failing)) return 'failed';
    if (misplacing > 0 && this.#dice.chance(misplacing)) return 'misplaced';
    const matches = this.#matching(this.#version(replicaLag), request.range);
    if (order === 'unstable') shuffle(matches, this.#dice);
    const rows = this.#rowsFor(request.rows);
    const page = repeatsPages ? 0 : request.page;
    const first = onward === 'cursors' ? this.#begin(matches, request.after) : page * rows;
    const isEmpty = onward === 'cursors' && this.#dice.chance(this.traits.emptyPages);
    const listed = countsOnce ? this.#doubled(matches) : matches;
    const plain = listed.slice(first, isEmpty ? first : first + rows);
    const records = countsOnce ? plain : this.#doubled(plain);
    this.#answers += 1;
    const more = this.traits.countsMoreAtFirst && this.#answers === 1 ? 5 : 0;
    const count = matches.length + records.length - plain.length + more;
    const end = first + plain.length;
    const isLast = totals === 'notOnLast' && end >= listed.length;
    const total =
      isLast || this.#dice.chance(this.traits.dropping)
        ? null
        : this.#total(count, request.range, records.length);
    if (totals === 'lagging' && plain.length === total)
      for (const { sid } of matches)
        if (!plain.some((one) => one.sid === sid)) this.hidden.add(sid);

    const answer: Answer<ModelItem> = {
      items: records.map((record) => ({ id: record.sid, at: record.time, record })),
      total,
    };
    if (onward === 'numbers') return answer;

    // A page that is empty has a cursor of its own, which leads to the same place.
    const last = plain.at(-1)?.sid ?? `${request.after ?? ''}~`;
    return { ...answer, next: end < matches.length ? last : null };
  }

  #doubled(records: readonly ModelRecord[]): ModelRecord[] {
    return records.flatMap((record) =>
      this.isDoubled(record) ? [record, { ...record, version: record.version + 0.5 }] : [record],
    );
  }

  /** Where a page begins that a cursor asks for: behind the record that the cursor names. */
  #begin(matches: readonly ModelRecord[], after: Ask['after']): number {
    const named = this.#known.get(String(after).replaceAll('~', ''));
    if (named === undefined) return 0;
    const compare = comparing(this.traits.order);
    const at = matches.findIndex(
      (record) => record.sid !== named.sid && compare(record, named) > 0,
    );
    return at < 0 ? matches.length : at;
  }

  #total(count: number, range: Range, ofPage: number): number | null {
    switch (this.traits.totals) {
      case 'none':
        return null;
      case 'lagging':
        return this.#matching(this.#version(3), range).length;
      case 'ghost':
        return count + (this.#middle !== undefined && this.covers(range, this.#middle) ? 1 : 0);
      case 'page':
        return ofPage;
      case 'capped':
        return Math.min(count, this.traits.cap);
      case 'huge':
        return 900_000_000 + this.#dice.below(9);
      default:
        return count;
    }
  }

  #rowsFor(asked: number): number {
    const { clamp, whim } = this.traits;
    const rows = Math.min(asked, clamp);
    return whim > 0 && rows > 1 && this.#dice.chance(whim) ? 1 + this.#dice.below(rows) : rows;
  }

  #matching(records: readonly ModelRecord[], range: Range): ModelRecord[] {
    return records.filter((record) => this.traits.ignoresRanges || this.covers(range, record));
  }

  /** The instant of a time. In a gap, as if the clock had not been put on yet. */
  #instantOf(time: number | null): number | null {
    const { clockChange } = this.traits;
    if (time === null || clockChange === null) return time;
    const { at, by, reads } = clockChange;
    if (by > 0) return time < at + (reads === 'earlier' ? 0 : by) ? time : time - by;
    const isAfter = reads === 'earlier' ? time >= at : time >= at + by;
    return isAfter ? time - by : time;
  }

  #version(lag: number): readonly ModelRecord[] {
    return lag === 0
      ? this.records
      : (this.#versions.at(-1 - this.#dice.below(lag + 1)) ?? this.records);
  }

  #move(records: readonly ModelRecord[]): void {
    const { replicaLag, totals } = this.traits;
    if (replicaLag === 0 && totals !== 'lagging') this.#versions[0] = records;
    else this.#versions.push(records);
  }
}

/**
 * The server behind a network: what is possible next happens in any order, and the list moves in
 * between.
 */
export class ModelNetwork implements ListSource<ModelItem> {
  readonly #server: ModelServer;
  readonly #dice: Dice;
  readonly #tick: () => void;
  readonly #misplaced: (cause: unknown) => Error;
  readonly #waiting: (() => void)[] = [];
  #isPumping = false;
  readonly #totals: Totals;
  requests = 0;

  constructor(
    server: ModelServer,
    dice: Dice,
    tick: () => void,
    misplaced: (cause: unknown) => Error,
    totals: Totals,
  ) {
    this.#totals = totals;
    this.#server = server;
    this.#dice = dice;
    this.#tick = tick;
    this.#misplaced = misplaced;
  }

  async ask({ signal, ...request }: Ask): Promise<Answer<ModelItem>> {
    const answer = await this.#answer(request, signal);
    if (this.#server.traits.onward === 'cursors') return answer;
    const page = { rows: answer.items.length, total: answer.total };
    return { ...answer, total: await this.#totals.of(page, this.#rowsOf(request.range, signal)) };
  }

  /** One row of a list, as the reader of calls asks for it. */
  #rowsOf(range: Range, signal: AbortSignal): Rows {
    const row = async (of: Range, page: number): Promise<PageTotal> => {
      this.requests += 1;
      await this.#turn();
      signal.throwIfAborted();
      for (;;) {
        const answer = this.#server.respond({ range: of, page, rows: 1, after: null });
        if (typeof answer !== 'string') return { rows: answer.items.length, total: answer.total };
      }
    };

    return {
      ofList: (page) => row(range, page),
      ofAll: () => row({ from: null, to: null }, 0),
    };
  }

  async #answer(request: Omit<Ask, 'signal'>, signal: AbortSignal): Promise<Answer<ModelItem>> {
    this.requests += 1;
    if (this.requests > 12_000) throw new Endless();
    await this.#turn();
    const answer = this.#server.respond(request);
    await this.#turn();
    signal.throwIfAborted();
    if (answer === 'failed') throw new Error('connection lost');
    if (answer === 'misplaced') throw this.#misplaced(new Error('wrong page'));
    return answer;
  }

  async count(range: Range, signal: AbortSignal): Promise<number | null> {
    const found = await this.#totals.count(this.#rowsOf(range, signal));
    this.#server.counts.push({ range, found });
    return found;
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#isPumping) return;
      this.#isPumping = true;
      setImmediate(this.#pump);
    });
  }

  readonly #pump = (): void => {
    this.#isPumping = false;
    this.#tick();
    const [next] = this.#waiting.splice(this.#dice.below(this.#waiting.length), 1);
    next?.();
    if (this.#waiting.length === 0) return;
    this.#isPumping = true;
    setImmediate(this.#pump);
  };
}

/** A read that asks on and on. */
export class Endless extends Error {}

const scrambled = (sid: string): number => {
  let sum = 7;
  for (let i = 0; i < sid.length; i++) sum = (sum * 31 + sid.charCodeAt(i)) % 9973;
  return sum;
};

function comparing(order: Order): (a: ModelRecord, b: ModelRecord) => number {
  const bySid = (a: ModelRecord, b: ModelRecord) => (a.sid < b.sid ? -1 : 1);
  switch (order) {
    case 'oldest':
      return (a, b) => a.time - b.time || bySid(a, b);
    case 'newest':
      return (a, b) => b.time - a.time || bySid(b, a);
    case 'scattered':
      return (a, b) => scrambled(a.sid) - scrambled(b.sid) || bySid(a, b);
    default:
      return bySid;
  }
}

function shuffle(items: ModelRecord[], dice: Dice): void {
  for (let i = items.length - 1; i > 0; i--) {
    const j = dice.below(i + 1);
    const item = items[i] as ModelRecord;
    items[i] = items[j] as ModelRecord;
    items[j] = item;
  }
}
