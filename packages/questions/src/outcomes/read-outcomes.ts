import { callerOf } from '@call-attribution/core/record';
import { readAmounts } from './amounts.ts';
import { type DateOrder, type Placed, readTimes } from './dates.ts';
import { type Outcome, type OutcomeFile, refuseRow, type TableRow } from './outcome.ts';

/** How files of outcomes are read. */
export interface OutcomeOptions {
  /** The time zone of the account, which times with an offset need; null where nobody knows it. */
  readonly timeZone: string | null;
  /** The order of day, month and year, of all files or of the file of a name; null where a file tells. */
  readonly dates: DateOrder | null | ((name: string) => DateOrder | null);
}

/** What files of outcomes say. */
export interface Outcomes {
  /** The outcomes in the order of their time; of each id the newest row. */
  readonly all: readonly Outcome[];
  /** For each file, which column was taken for what. */
  readonly columns: readonly string[];
  /** Rows that a newer row of the same id replaces, or that another file has as well. */
  readonly replaced: number;
}

/** What a column is for, and what it is usually called. A column "name" is that of the customer. */
const headings = {
  phone: [
    'phone',
    'phone number',
    'telephone',
    'caller',
    'caller number',
    'caller id',
    'customer phone',
    'mobile',
    'mobile phone',
    'ani',
  ],
  time: [
    'time',
    'sale time',
    'date and time',
    'datetime',
    'timestamp',
    'conversion time',
    'sold at',
    'closed at',
    'close date',
    'closed date',
    'sale date',
    'order date',
    'booking date',
    'date',
  ],
  value: [
    'value',
    'amount',
    'revenue',
    'sale amount',
    'deal value',
    'order value',
    'order total',
    'conversion value',
    'total',
  ],
  currency: ['currency', 'currency code', 'conversion currency'],
  conversion: ['conversion', 'conversion name'],
  id: ['id', 'sale id', 'order id', 'deal id', 'opportunity id', 'transaction id', 'order number'],
  status: ['status', 'stage', 'deal stage', 'order status'],
} as const;

type Meaning = keyof typeof headings;
const meanings = Object.keys(headings) as Meaning[];
const needed: readonly Meaning[] = ['phone', 'time', 'value'];

/** Lines above the headings, such as a title. */
const mostAbove = 20;

const counting = ['', 'won', 'paid', 'completed'];
const cancelling = ['cancelled', 'canceled', 'refunded', 'void'];

const plain = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^a-z]+/g, ' ')
    .trim();

/** The columns of a file: the place of each, and its heading. A date and a time may be two columns. */
interface Columns {
  readonly at: ReadonlyMap<Meaning, number>;
  /** The column of the time of day, beside one of the date. */
  readonly timeOfDay: number | null;
  readonly said: string;
}

/** Finds the headings of a file, and the rows below them. */
function headingsOf({ name, rows }: OutcomeFile): Columns & { readonly body: readonly TableRow[] } {
  const known = (row: TableRow): number =>
    needed.filter((meaning) =>
      row.cells.some((cell) =>
        (headings[meaning] as readonly string[]).includes(plain(String(cell))),
      ),
    ).length;
  const above = rows.slice(0, mostAbove);
  const most = Math.max(0, ...above.map(known));
  const head = above.find((row) => known(row) === most);
  if (head === undefined || most === 0)
    throw refuseRow(
      name,
      `no headings were found: expected a line with ${needed.join(', ')}, such as "phone,time,value"`,
    );

  const place = `${name}, row ${head.line}`;
  const titles = head.cells.map(String).map(plain);
  const at = new Map<Meaning, number>();
  let timeOfDay: number | null = null;
  for (const meaning of meanings) {
    const usual: readonly string[] = headings[meaning];
    let found = titles.flatMap((title, i) => (usual.includes(title) ? [i] : []));
    const date = titles.indexOf('date');
    const time = titles.indexOf('time');
    if (meaning === 'time' && found.length === 2 && date >= 0 && time >= 0) {
      timeOfDay = time;
      found = [date];
    }

    const [first] = found;
    if (found.length > 1)
      throw refuseRow(
        place,
        `${found.map((i) => JSON.stringify(head.cells[i])).join(' and ')} may both be the ${meaning}: rename all but one`,
      );
    if (first !== undefined) at.set(meaning, first);
    else if (needed.includes(meaning))
      throw refuseRow(
        place,
        `there is no column for the ${meaning}: expected one of ${usual.slice(0, 6).join(', ')}`,
      );
  }

  const said = [...at].map(([meaning, i]) => `${meaning} from ${JSON.stringify(head.cells[i])}`);
  return {
    at,
    timeOfDay,
    said: `${name}: ${said.join(', ')}`,
    body: rows.filter(({ line, cells }) => line > head.line && cells.some((cell) => cell !== '')),
  };
}

/**
 * Reads what calls became from files: phone, time and value, and, where there are columns for them,
 * currency, conversion, id and status. What could be read in two ways is refused with its row.
 *
 * @example
 * const rows = [{ line: 1, cells: ['phone', 'time', 'value'] }, { line: 2, cells: ['+1 312 555 0199', '2026-11-03', '250'] }];
 * readOutcomes([{ name: 'sales.csv', rows }], { timeZone: 'America/Chicago', dates: null }).all[0]?.value; // 250
 */
export function readOutcomes(files: readonly OutcomeFile[], options: OutcomeOptions): Outcomes {
  const read = files.map((file) => readFile(file, options));
  const { kept, replaced } = unionOf(read.map(({ outcomes }) => outcomes));
  return {
    all: kept.sort((a, b) => a.time - b.time || byPlace.compare(a.place, b.place)),
    columns: read.map(({ said }) => said),
    replaced,
  };
}

/** Row 9 comes before row 10. */
const byPlace = new Intl.Collator('en', { numeric: true });

function readFile(file: OutcomeFile, options: OutcomeOptions) {
  const { at, timeOfDay, said, body } = headingsOf(file);
  const placed = body.map((row) => ({ place: `${file.name}, row ${row.line}`, row }));
  const last = Math.max(...at.values(), timeOfDay ?? 0);
  const least = Math.max(...needed.map((meaning) => at.get(meaning) ?? 0));

  // A sheet has no cells at the end of a row that is empty there, and is whole or cannot be read.
  const isText = body.every(({ cells }) => cells.every((cell) => typeof cell === 'string'));
  for (const { place, row } of isText ? placed : [])
    if (row.cells.length <= least || (row === body.at(-1) && row.cells.length <= last))
      throw refuseRow(
        place,
        `it ends before its last column: is the file whole, or is it still being written?`,
      );

  const cellsOf = (meaning: Meaning): readonly Placed<string | number>[] | null => {
    const index = at.get(meaning);
    if (index === undefined) return null;
    return placed.map(({ place, row }) => ({ place, text: row.cells[index] ?? '' }));
  };
  const column = (meaning: Meaning): readonly Placed[] | null =>
    cellsOf(meaning)?.map(({ place, text }) => ({ place, text: String(text).trim() })) ?? null;

  const phones = column('phone') ?? [];
  const dates = (column('time') ?? []).map(({ place, text }, i) => {
    const ofDay = timeOfDay === null ? '' : (placed[i]?.row.cells[timeOfDay] ?? '');
    return { place, text: `${text} ${ofDay}`.trim() };
  });
  const { timeZone } = options;
  const order = typeof options.dates === 'function' ? options.dates(file.name) : options.dates;
  const times = readTimes(dates, { timeZone, dates: order });
  const statuses = column('status');
  const isCounted = phones.map(({ place }, i) => isCounting(place, statuses?.[i]?.text ?? ''));
  const values = (cellsOf('value') ?? []).map(({ place, text }, i) => {
    // What was taken back needs no value.
    return { place, text: text === '' && isCounted[i] === false ? '0' : text };
  });
  const amounts = readAmounts(values);
  const currencies = column('currency');
  const conversions = column('conversion');
  const ids = column('id');
  const callers = phones.map(readCaller);
  const outcomes = phones.map(({ place }, i): Outcome => {
    const { value = 0, currency = null } = amounts[i] ?? {};
    const { time = 0, until = 0, instant = null } = times[i] ?? {};
    const caller = callers[i] ?? null;
    return {
      place,
      caller,
      time,
      until,
      instant,
      value,
      currency: readCurrency(place, currencies?.[i]?.text ?? '', currency),
      conversion: conversions?.[i]?.text || null,
      id: ids === null ? null : readId(ids[i], caller),
      counts: isCounted[i] === true && value > 0,
    };
  });
  // Without a column for it all values are in one currency.
  if (currencies === null) oneCurrency(outcomes, 'add a column "currency"');
  return { outcomes, said };
}

/** Who a cell is the number of. Excel writes long numbers in a way that loses their digits. */
function readCaller({ place, text }: Placed): number | null {
  if (/^\d(?:[.,]\d+)?E\+?\d+$/i.test(text))
    throw refuseRow(
      place,
      'its phone number was rounded, as in 3.03E+09: format the column as text, and export the file again',
    );

  return callerOf({ ani: text.replace(/^(\d+)[.,]0+$/, '$1') });
}

function readCurrency(place: string, typed: string, inValue: string | null): string | null {
  const currency = typed === '' ? null : typed.toUpperCase();
  if (currency !== null && !/^[A-Z]{3}$/.test(currency))
    throw refuseRow(place, 'its currency is no code of three letters such as USD');
  const isOther = inValue !== null && inValue !== '$' && inValue !== currency;
  if (currency !== null && isOther)
    throw refuseRow(place, `its value is in ${inValue}, and its currency says ${currency}`);
  return currency ?? inValue;
}

function readId(cell: Placed | undefined, caller: number | null): string | null {
  if (cell === undefined || cell.text === '') return null;
  const isNumber = caller !== null && callerOf({ ani: cell.text }) === caller;
  if (isNumber || cell.text.includes('@'))
    throw refuseRow(
      cell.place,
      'its id is the number or an address of the customer, which is personal data: give the number of the sale, or leave the column out',
    );

  return cell.text;
}

function isCounting(place: string, text: string): boolean {
  const status = text.toLowerCase();
  if (counting.includes(status)) return true;
  if (cancelling.includes(status)) return false;
  const shown = /^[a-z][a-z _-]{0,29}$/.test(status)
    ? `its status is ${JSON.stringify(text)}`
    : 'its status is not known';
  throw refuseRow(
    place,
    `${shown}. A sale counts as ${counting.slice(1).join(', ')} or without a status, and ${cancelling.join(', ')} takes it back: remove rows with another status`,
  );
}

/**
 * The currency of all outcomes, null where none is said. Two of them are refused, since amounts of
 * two currencies never add up.
 */
export function oneCurrency(outcomes: readonly Outcome[], fix: string): string | null {
  const [first] = outcomes;
  const other = outcomes.find(({ currency }) => currency !== first?.currency);
  if (first === undefined || other === undefined) return first?.currency ?? null;
  const named = ({ currency }: Outcome) => (currency === null ? 'no currency' : currency);
  throw refuseRow(
    other.place,
    `its value is in ${named(other)}, and that of ${first.place} in ${named(first)}: ${fix}`,
  );
}

/**
 * What the files say together, whatever order they are given in: the newest row of each id, and a
 * row without an id as often as the file has it that has it most often.
 */
function unionOf(files: readonly (readonly Outcome[])[]) {
  const byId = new Map<string, Outcome[]>();
  const others = new Map<string, Outcome[]>();
  for (const outcomes of files) {
    const own = new Map<string, Outcome[]>();
    const ids = new Map<string, Outcome[]>();
    for (const outcome of outcomes) {
      const { id, time, until, conversion } = outcome;
      const rows = id === null ? own : ids;
      const key = id ?? JSON.stringify([time, until, conversion, said(outcome)]);
      const known = rows.get(key);
      if (known === undefined) rows.set(key, [outcome]);
      else known.push(outcome);
    }

    for (const [id, rows] of ids) {
      // In one file a sale has one value; what takes it back may come later.
      refuseDifferent(rows.filter(({ counts }) => counts));
      byId.set(id, [...(byId.get(id) ?? []), ...rows]);
    }

    for (const [same, rows] of own)
      if (rows.length > (others.get(same)?.length ?? 0)) others.set(same, rows);
  }

  const newest = [...byId.values()].map(newestOf);
  const kept = [...newest, ...[...others.values()].flat()];
  const rows = files.reduce((sum, outcomes) => sum + outcomes.length, 0);
  return { kept, replaced: rows - kept.length };
}

/** What a row says of its sale. */
const said = ({ caller, value, currency, counts }: Outcome): string =>
  JSON.stringify([caller, value, currency, counts]);

/** The row of one id that holds: no other one of its time may say something else. */
function newestOf(rows: readonly Outcome[]): Outcome {
  const latest = rows.reduce((most, { time }) => Math.max(most, time), Number.NEGATIVE_INFINITY);
  const newest = rows.filter(({ time }) => time === latest);
  refuseDifferent(newest);
  return newest.reduce((one, other) =>
    byPlace.compare(one.place, other.place) <= 0 ? one : other,
  );
}

/** Rows of one id that say different things, where the time does not tell which one holds. */
function refuseDifferent(rows: readonly Outcome[]): void {
  const [first, ...rest] = [...rows].sort((a, b) => byPlace.compare(a.place, b.place));
  const other = rest.find((row) => first !== undefined && said(row) !== said(first));
  if (first === undefined || other === undefined) return;
  throw refuseRow(
    other.place,
    `its id is that of ${first.place}, which says something else: of one id only a newer row may, in another file or as what takes it back`,
  );
}
