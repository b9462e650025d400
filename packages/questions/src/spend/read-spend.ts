import { formatCounted } from '@call-attribution/core/errors';
import { type ClosedPeriod, day, intersect, periodOf } from '@call-attribution/core/time';
import { wordList } from '../conditions/condition.ts';
import { readAmounts } from '../outcomes/amounts.ts';
import type { DateOrder, Placed } from '../outcomes/dates.ts';
import { type OutcomeFile, refuseRow, type TableRow } from '../outcomes/outcome.ts';
import type { Spend, SpendAmount } from '../question/question.ts';
import {
  fieldOf,
  findHead,
  nameColumns,
  readColumns,
  type SpendColumn,
  type SpendHead,
} from './columns.ts';
import { datesIn, readDays, stretchFrom } from './days.ts';

/** A row below the headings. */
interface Entry {
  readonly place: string;
  readonly row: TableRow;
  readonly cell: (column: SpendColumn) => string;
}

/**
 * Reads what was spent from the rows of a file, as Google Ads, Microsoft Advertising and others let
 * people download it: lines above the headings, rows of totals and a last line of the tool are left
 * out. What could be read in two ways is refused with its row.
 *
 * @param columns headings of another language: `campaign=Kampagne,cost=Kosten,day=Tag`; null for the usual ones.
 * @example
 * const rows = [{ line: 1, cells: ['Campaign', 'Cost'] }, { line: 2, cells: ['Brand', '1,033.33'] }];
 * readSpend({ name: 'spend.csv', rows }, null).amounts[0]?.amount; // 1033.33
 */
export function readSpend({ name, rows }: OutcomeFile, columns: string | null): Spend {
  const typed = readColumns(columns);
  const head = findHead(rows, name, typed.headings);
  const above = rows.filter(({ line }) => line < head.row.line);
  const below = rows.filter(({ line }) => line > head.row.line);
  const isOfTool = ({ cells }: TableRow) => /^(?:©|\(c\)|@\d{4} )/i.test(String(cells[0] ?? ''));
  const body = below.filter((row) => !isOfTool(row) && !isTotal(row));
  const entries = body.map((row): Entry => {
    const cell = (column: SpendColumn) => textOf(row.cells[head.at.get(column) ?? -1] ?? '');
    return { place: `${name}, row ${row.line}`, row, cell };
  });
  if (entries.length === 0) throw refuseRow(name, 'there are headings and no amounts below them');
  refuseCut(body.at(-1), rows.at(-1), head, name);
  refuseNameless(entries, head);
  refuseTwice(entries, head);

  const paid = entries.map(({ place, cell }) => ({ place, text: cell('cost') }));
  const amounts = readAmounts(
    paid.map(({ place, text }) => ({ place, text: text === '--' ? '0' : text })),
    { negative: 'its cost is negative', missing: 'it has no cost: is the file whole?' },
  );
  const lines = above.map(({ line, cells }) => ({
    place: `${name}, row ${line}`,
    text: cells.map(textOf).join(','),
  }));
  const { covers, periods, stretch } = periodsOf(entries, lines, head, typed.dates);
  const currency = currencyOf(entries, head, amounts);
  const named = nameColumns.filter((column) => head.at.has(column));
  const zone = lines.map(({ text }) => /^time zone:\s*(.+)$/i.exec(text)?.[1]).find(Boolean);
  const totals = below.filter(isTotal).length;
  const taken = [...named, ...(stretch === null ? [] : [stretch]), 'cost' as const].map(
    (column) => `${column} from ${JSON.stringify(head.row.cells[head.at.get(column) ?? -1])}`,
  );
  const said = [
    `${name}: ${formatCounted(entries.length, 'amount')} in ${currency ?? 'a currency that it does not name'}, ${wordList(taken, 'and')}`,
  ];
  if (totals > 0)
    said.push(`${formatCounted(totals, 'row')} of totals ${totals === 1 ? 'is' : 'are'} left out`);
  said.push(
    zone === undefined
      ? 'it names no time zone, so its days are taken as days of the calls'
      : `its days are those of ${zone}`,
  );
  return {
    called: name,
    said: `${said.join('; ')}.`,
    currency,
    fields: named.map((column) => fieldOf[column]),
    covers,
    amounts: entries.map(
      ({ row, cell }, i): SpendAmount => ({
        row: row.line,
        names: named.map((column) => nameIn(cell(column))),
        period: periods?.[i] ?? null,
        amount: amounts[i]?.value ?? 0,
      }),
    ),
  };
}

/** A number of a sheet is written so that nobody takes its point for a mark of thousands. */
const textOf = (cell: string | number): string => {
  if (typeof cell === 'string') return cell.trim();
  return Number.isInteger(cell) ? String(cell) : cell.toFixed(4);
};

/** A time of day that only says that there is none. */
const midnight = /[T ]0?0:00(?::00(?:\.0+)?)?$/;
const nothing = /^(?:--|—|)$/;
const nameIn = (text: string): string | null => (nothing.test(text) ? null : text);

/** Rows that add others up, such as `Total: Account`. */
const isTotal = ({ cells }: TableRow): boolean =>
  cells.some((cell) =>
    /^(?:total|gesamt|totale|totaal|totalt|razem)\s?:\s?\S/i.test(textOf(cell)),
  ) || /^(?:(?:grand|overall) )?totals?(?: - .*)?$/i.test(textOf(cells[0] ?? ''));

/** A file that ends within a row was cut. Sheets leave out cells in which nothing is. */
function refuseCut(
  last: TableRow | undefined,
  end: TableRow | undefined,
  { row }: SpendHead,
  name: string,
): void {
  const isSheet = last?.cells.some((cell) => typeof cell === 'number') === true;
  if (last !== undefined && last === end && !isSheet && last.cells.length < row.cells.length)
    throw refuseRow(
      `${name}, row ${last.line}`,
      'it ends before its last column: is the file whole, or is it still being written?',
    );
}

function refuseNameless(entries: readonly Entry[], { at }: SpendHead): void {
  const named = nameColumns.filter((column) => at.has(column));
  const nameless = entries.find(({ cell }) => named.every((name) => nothing.test(cell(name))));
  if (nameless !== undefined)
    throw refuseRow(
      nameless.place,
      `it has no ${wordList(named.map((each) => each.replace('_', ' ')))}: is it a total? Remove the row, or download the file again without such rows`,
    );
}

/** Numbers, parts and blanks: what a column of results has, and never one that tells rows apart. */
const isResult = (cell: string | number | undefined): boolean =>
  typeof cell === 'number' ||
  /^(?:[<>~]?\s*\p{Sc}?[\d.,'\s-]*(?:%|\p{Sc})?|--|)$/u.test(cell ?? '');

/**
 * Refuses two rows that say the same: what was spent may be there twice. Rows that differ in a
 * column that is not taken, such as the device, add up.
 */
function refuseTwice(entries: readonly Entry[], { row: head, at }: SpendHead): void {
  const taken = new Set([...at].flatMap(([column, place]) => (column === 'cost' ? [] : [place])));
  const tells = head.cells.flatMap((heading, i) => {
    const isOfTime = /\b(?:id|hour|day|week|month|quarter|year)\b/i.test(String(heading));
    const isTold = taken.has(i) || isOfTime || entries.some(({ row }) => !isResult(row.cells[i]));
    return isTold && at.get('cost') !== i ? [i] : [];
  });
  const seen = new Map<string, Entry>();
  for (const entry of entries) {
    const id = JSON.stringify(tells.map((i) => entry.row.cells[i] ?? ''));
    const before = seen.get(id);
    seen.set(id, entry);
    if (before === undefined) continue;
    const same = [...at]
      .filter(([column]) => column !== 'cost' && column !== 'currency')
      .map(([column]) => entry.cell(column));
    throw refuseRow(
      entry.place,
      `row ${before.row.line} says what was spent on the same, ${same.join(', ')}: remove one, or download the file with a column that tells them apart`,
    );
  }
}

/** What each row is of, and what the file says it is of as a whole. */
function periodsOf(
  entries: readonly Entry[],
  lines: readonly Placed[],
  { at }: SpendHead,
  order: DateOrder | null,
) {
  const stretch = (['day', 'week', 'month'] as const).find((column) => at.has(column)) ?? null;
  const dated = lines.map((line) => ({ ...line, dates: datesIn(line.text) }));
  const others = dated.flatMap(({ place, dates }) => dates.map((text) => ({ place, text })));
  const own =
    stretch === null
      ? []
      : entries.map(({ place, cell }) => ({ place, text: cell(stretch).replace(midnight, '') }));
  const days = readDays([...own, ...others], order);

  // The line of dates is one, two dates and nothing else; other lines are of when it was made.
  const isOfDates = ({ text, dates }: (typeof dated)[number]) =>
    dates.length > 0 && dates.length <= 2 && !/completed|created|downloaded|generated/i.test(text);
  const line = dated.find(isOfDates);
  let covers: ClosedPeriod | null = null;
  if (line !== undefined) {
    const from = days[own.length + others.findIndex(({ place }) => place === line.place)] ?? null;
    const last =
      days[own.length + others.findLastIndex(({ place }) => place === line.place)] ?? null;
    if (from === null || last === null || last < from)
      throw refuseRow(line.place, 'its dates cannot be read');
    covers = periodOf(from, last + day);
  }

  if (stretch === null) return { covers, stretch, periods: null };
  const periods = own.map(({ place, text }, i) => {
    const begin = days[i] ?? null;
    if (begin === null)
      throw refuseRow(
        place,
        `its ${stretch} ${JSON.stringify(text)} is no date such as 2026-10-01`,
      );
    const whole = stretchFrom(begin, stretch);

    // The first and the last week of a download may be parts.
    const part = covers === null ? whole : intersect(whole, covers);
    if (part?.from == null || part.to === null)
      throw refuseRow(place, `its ${stretch} ${text} is not among the dates of the file`);
    return periodOf(part.from, part.to);
  });
  return { covers, stretch, periods };
}

/** The one currency of a file. */
function currencyOf(
  entries: readonly Entry[],
  { currency }: SpendHead,
  amounts: readonly { readonly currency: string | null }[],
): string | null {
  let known: { readonly currency: string; readonly place: string } | null =
    currency === null ? null : { currency, place: 'the heading' };
  for (const [i, { place, cell }] of entries.entries()) {
    const typed = nothing.test(cell('currency')) ? null : cell('currency').toUpperCase();
    const own = typed ?? amounts[i]?.currency ?? null;
    if (own === null) continue;
    if (known !== null && known.currency !== own)
      throw refuseRow(
        place,
        `it is in ${own}, and ${known.place} in ${known.currency}: amounts of two currencies never add up, so make a file of each`,
      );
    known ??= { currency: own, place };
  }

  return known?.currency ?? null;
}
