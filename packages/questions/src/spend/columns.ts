import { nearest } from '@call-attribution/query-dsl';
import type { DateOrder } from '../outcomes/dates.ts';
import { refuseRow, type TableRow } from '../outcomes/outcome.ts';

// Which columns of a file of spend are taken for what.

/** What columns are usually called, without marks and in small letters. */
const headings = {
  campaign: ['campaign', 'campaign name', 'campaignname'],
  ad_group: ['ad group', 'ad group name', 'adgroup', 'adgroupname'],
  keyword: ['keyword', 'search keyword', 'keyword text'],
  cost: ['cost', 'spend', 'amount spent'],
  day: ['day', 'date', 'gregorian date', 'gregoriandate'],
  week: ['week'],
  month: ['month'],
  currency: ['currency', 'currency code', 'currencycode'],
} as const;

/** What a column is taken for. */
export type SpendColumn = keyof typeof headings;
const columnNames = Object.keys(headings) as SpendColumn[];

/** The fields of calls that names are of, from the coarsest. */
export const fieldOf = {
  campaign: 'ppc_campaign',
  ad_group: 'ppc_adgroup',
  keyword: 'ppc_keywords',
} as const;
export const nameColumns = Object.keys(fieldOf) as (keyof typeof fieldOf)[];

/** Columns that somebody named, and the order of dates. */
export interface TypedColumns {
  readonly headings: ReadonlyMap<SpendColumn, string>;
  readonly dates: DateOrder | null;
}

/** Reads columns as they are typed: `campaign=Kampagne,cost=Kosten,day=Tag,dates=dmy`. */
export function readColumns(text: string | null): TypedColumns {
  const typed = new Map<SpendColumn, string>();
  let dates: DateOrder | null = null;
  for (const part of text?.split(',') ?? []) {
    const [name = '', heading = ''] = part.split(/=(.*)/s).map((each) => each.trim());
    const column = columnNames.find((each) => each === name.toLowerCase().replace(/[ -]/g, '_'));
    if (name === 'dates' && /^(?:dmy|mdy|ymd)$/.test(heading)) dates = heading as DateOrder;
    else if (column !== undefined && heading !== '') typed.set(column, heading);
    else {
      const near = nearest(name, columnNames);
      const hint = near === undefined || column !== undefined ? '' : ` Did you mean ${near}?`;
      throw refuseRow(
        '--spend-columns',
        `${JSON.stringify(part)} is none of ${columnNames.join(', ')} with a heading, such as campaign=Kampagne, nor dates=dmy, mdy or ymd.${hint}`,
      );
    }
  }

  return { headings: typed, dates };
}

/** The headings of a file. */
export interface SpendHead {
  readonly row: TableRow;
  /** The place of each column that is there. */
  readonly at: ReadonlyMap<SpendColumn, number>;
  /** The currency that the heading of the cost names, such as `Amount spent (USD)`. */
  readonly currency: string | null;
}

const plain = (heading: string | number): string =>
  String(heading)
    .toLowerCase()
    .replace(/[\s_.-]+/g, ' ')
    .trim();
const withCurrency = /^(.*?) ?\(([a-z]{3})\)$/;

/** Lines above the headings, such as a title. */
const mostAbove = 30;

/** Finds the headings: the first row with a cost and a name. */
export function findHead(
  rows: readonly TableRow[],
  called: string,
  typed: TypedColumns['headings'],
): SpendHead {
  for (const row of rows.slice(0, mostAbove)) {
    const titles = row.cells.map(plain);
    const at = new Map<SpendColumn, number>();
    let twice: { readonly column: string; readonly places: readonly number[] } | null = null;
    for (const column of columnNames) {
      const own = typed.get(column);
      const usual: readonly string[] = own === undefined ? headings[column] : [plain(own)];
      const places = titles.flatMap((title, i) => {
        const isCost = column === 'cost' && usual.includes(withCurrency.exec(title)?.[1] ?? '');
        return usual.includes(title) || isCost ? [i] : [];
      });
      const [first] = places;
      if (places.length > 1) twice ??= { column, places };
      if (first !== undefined) at.set(column, first);
    }

    const isHead = at.has('cost') && nameColumns.some((name) => at.has(name));
    if (!isHead || [...typed.keys()].some((column) => !at.has(column))) continue;
    if (twice !== null)
      throw refuseRow(
        `${called}, row ${row.line}`,
        `${twice.places.map((i) => JSON.stringify(row.cells[i])).join(' and ')} may both be the ${twice.column}: name one with --spend-columns ${twice.column}=…, or remove the other`,
      );

    const currency = withCurrency.exec(titles[at.get('cost') ?? -1] ?? '')?.[2] ?? null;
    return { row, at, currency: currency?.toUpperCase() ?? null };
  }

  const named = [...typed.values()].map((each) => JSON.stringify(each)).join(', ');
  throw refuseRow(
    called,
    `no row has headings ${named === '' ? 'such as Campaign and Cost' : `with ${named}`}: expected a cost, and a campaign, an ad group or a keyword. Headings in another language are named with --spend-columns campaign=Kampagne,cost=Kosten,day=Tag`,
  );
}
