import type { PageView } from '../../src/reader/page-view.ts';
import type { BoundStyle } from '../../src/reader/span.ts';
import type { Failure } from '../../src/reader/work.ts';
import type { Dice } from './dice.ts';

/** A record of the model: what the planning can see of it. */
export interface ModelRecord {
  readonly sid: string;
  /** When the call was made, on a clock that is never changed. */
  readonly instant: number;
  /** `date_added`, as the server's clock showed it. */
  readonly time: number;
  /** Grows with each change of its contents. */
  readonly version: number;
}

/** How records follow each other in a list. `unstable`: in another order with each response. */
export type Order = 'oldest' | 'newest' | 'arrival' | 'scattered' | 'unstable';

/** Ways a server behaves. */
export interface Traits {
  readonly order: Order;
  /** Rows it gives at most, and how often it gives fewer for no reason. */
  readonly clamp: number;
  readonly whim: number;
  /** What it makes of `}`: leaves the bound out, refuses it, or takes it for `]`. */
  readonly exclusive: 'excluded' | 'refused' | 'included';
  /** `lagging`: totals of some moves ago. `ghost`: counts a record that no list holds. */
  readonly totals: 'true' | 'none' | 'lagging' | 'ghost';
  /** By how many moves a whole response may be out of date, each by itself, as from one of several replicas. */
  readonly replicaLag: number;
  /** Does not filter by `date_added`. */
  readonly ignoresRanges: boolean;
  /** Requests that fail for good, and pages that do not fit their place, as parts of all. */
  readonly failing: number;
  readonly misplacing: number;
  /** How lists go on: by numbers of pages, or by what each page gives; and how often such a page is empty in the middle. */
  readonly onward: 'numbers' | 'cursors';
  readonly emptyPages: number;
  /** Records of a range that it gives at most, and whether its totals say no more than that either. */
  readonly cap: number;
  readonly showsCap: boolean;
  /** A change of its clock: when, and by how much the clock is put on (or back, when negative). */
  readonly clockChange: { readonly at: number; readonly by: number } | null;
}

/** A request of the planning. */
export interface ModelRequest {
  readonly id: number;
  readonly span: { readonly from: number | null; readonly to: number | null };
  readonly style: BoundStyle;
  readonly rows: number;
  readonly start: number;
  readonly after: string | number | null;
}

/** The bounds of the query itself, as instants of its clock. */
export interface QueryBounds {
  readonly lower: number | null;
  /** First time after the query. */
  readonly upper: number | null;
}

const second = 1000;

/** A list of records that moves, behind a server with traits. */
export class ModelServer {
  readonly traits: Traits;
  readonly #dice: Dice;
  readonly #bounds: QueryBounds;
  /** All states of the list that a response may still show, the newest last. */
  #versions: (readonly ModelRecord[])[];
  /** It was asked what it makes of `}` with a call that had just gone, so that nobody can tell. */
  isMisleading = false;
  /** Records that a response held back although its total says that it held all: nobody can tell. */
  readonly hidden = new Set<string>();
  /** All records that ever were, by sid: a cursor may name one that is gone. */
  readonly #known = new Map<string, ModelRecord>();

  constructor(records: readonly ModelRecord[], traits: Traits, bounds: QueryBounds, dice: Dice) {
    this.traits = traits;
    this.#dice = dice;
    this.#bounds = bounds;
    this.#versions = [[...records].sort(comparing(traits.order))];
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

  /** The naive time that this server's clock shows at an instant. */
  timeOf(instant: number): number {
    const { clockChange } = this.traits;
    return clockChange === null || instant < clockChange.at ? instant : instant + clockChange.by;
  }

  /** Whether a naive time lies in the hour after a gap, whose records may come with a slice that ends before them. */
  isAstray(time: number): boolean {
    const { clockChange } = this.traits;
    return clockChange !== null && time >= clockChange.at && time < clockChange.at + 2 * clockChange.by;
  }

  /** Whether the query itself covers an instant, as this server reads its bounds. */
  covers(instant: number): boolean {
    const [lower, upper] = [this.#instantOf(this.#bounds.lower), this.#instantOf(this.#bounds.upper)];
    return (lower === null || instant >= lower) && (upper === null || instant < upper);
  }

  /** The response to a request. */
  respond(request: ModelRequest): PageView | Failure {
    const { failing, misplacing, totals, replicaLag, order } = this.traits;
    if (failing > 0 && this.#dice.chance(failing)) return 'failed';
    if (this.#isRefused(request)) return 'refused';
    if (misplacing > 0 && this.#dice.chance(misplacing)) return 'misplaced';
    const shown = this.#version(replicaLag);
    const matches = this.#matching(shown, request);
    if (order === 'unstable') shuffle(matches, this.#dice);
    const rows = this.#rowsFor(request.rows);
    const { onward, cap, showsCap } = this.traits;
    const first = onward === 'cursors' ? this.#begin(matches, request) : request.start * rows;
    const isEmpty = onward === 'cursors' && this.#dice.chance(this.traits.emptyPages);
    const records = matches.slice(first, isEmpty ? first : Math.min(cap, first + rows));
    const counted = totals === 'none' ? null : this.#total(matches.length, request);
    const total = showsCap && counted !== null ? Math.min(counted, cap) : counted;
    const { from, to } = request.span;
    if (from !== null && from === to && total === 0 && this.traits.exclusive === 'included')
      this.isMisleading = true;
    const end = first + records.length;
    if (totals === 'lagging' && end === total) for (const { sid } of matches.slice(end)) this.hidden.add(sid);
    if (onward === 'numbers') return viewOf(records, records.length === 0 ? 0 : first + 1, total);
    const last = records.at(-1)?.sid ?? request.after ?? '';
    return { ...viewOf(records, null, total), next: end < matches.length ? last : null };
  }

  /** Where a page begins that a cursor asks for: behind the record that the cursor names. */
  #begin(matches: readonly ModelRecord[], { after }: ModelRequest): number {
    const named = this.#known.get(String(after));
    if (named === undefined) return 0;
    const compare = comparing(this.traits.order);
    const at = matches.findIndex((record) => record.sid !== named.sid && compare(record, named) > 0);
    return at < 0 ? matches.length : at;
  }

  #total(count: number, request: ModelRequest): number {
    const { totals } = this.traits;
    if (totals === 'lagging') return this.#matching(this.#version(3), request).length;
    return count + (totals === 'ghost' && count > 0 && this.#holdsGhost(request) ? 1 : 0);
  }

  /** The ghost has the time of the record in the middle of the first list. */
  #holdsGhost(request: ModelRequest): boolean {
    const first = this.#versions[0] as readonly ModelRecord[];
    const middle = first[first.length >> 1];
    return middle !== undefined && this.#matching([middle], request).length > 0;
  }

  #rowsFor(asked: number): number {
    const { clamp, whim } = this.traits;
    const rows = Math.min(asked, clamp);
    return whim > 0 && rows > 1 && this.#dice.chance(whim) ? 1 + this.#dice.below(rows) : rows;
  }

  #isRefused({ span, style }: ModelRequest): boolean {
    return this.traits.exclusive === 'refused' && style === 'half-open' && span.to !== null;
  }

  #matching(records: readonly ModelRecord[], { span, style }: ModelRequest): ModelRecord[] {
    const { exclusive, ignoresRanges } = this.traits;
    const includesEnd = style === 'half-open' && exclusive === 'included' && span.to !== null;
    const from = this.#instantOf(span.from ?? this.#bounds.lower);
    const to = this.#instantOf(span.to ?? this.#bounds.upper);
    const end = to === null ? null : includesEnd ? to + second : to;
    return records.filter(
      ({ instant }) =>
        ignoresRanges || ((from === null || instant >= from) && (end === null || instant < end)),
    );
  }

  /** The instant of a naive time; of the earlier one of two, and in a gap as if the clock had not been put on yet. */
  #instantOf(time: number | null): number | null {
    const { clockChange } = this.traits;
    if (time === null || clockChange === null) return time;
    const { at, by } = clockChange;
    return time < at + Math.max(0, by) ? time : time - by;
  }

  #version(lag: number): readonly ModelRecord[] {
    return lag === 0 ? this.records : (this.#versions.at(-1 - this.#dice.below(lag + 1)) ?? this.records);
  }

  #move(records: readonly ModelRecord[]): void {
    const { replicaLag, totals } = this.traits;
    if (replicaLag === 0 && totals === 'true') this.#versions[0] = records;
    else this.#versions.push(records);
  }
}

/** A page of the model, as the planning sees it. */
export interface ModelView extends PageView {
  readonly records: readonly ModelRecord[];
}

function viewOf(records: readonly ModelRecord[], first: number | null, total: number | null): ModelView {
  return {
    records,
    count: records.length,
    first,
    total,
    bytes: records.length * 100,
    ids: () => records.map(({ sid }) => sid),
    positionOf: (index) => records[index]?.time ?? Number.NaN,
    checksumOf: (index) => records[index]?.version ?? 0,
  };
}

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
