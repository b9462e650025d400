import { compare, datePattern, type Meant, meantDate, meantNumber, numberPattern } from './bounds.ts';
import type { Field, ParseOptions } from './filter.ts';
import { nameAt } from './found.ts';
import { attempt, Reader } from './reader.ts';

/** A clause as it was meant, in the language, and where the text that it stands for ends. */
export interface Rewrite {
  readonly text: string;
  readonly end: number;
}

/** What the parts of a clause are that a pattern found, by name. */
type Parts = Readonly<Record<string, string | undefined>>;

/** One way in which people write a clause: what follows the name, and the range it means. */
interface Row {
  readonly pattern: RegExp;
  range(
    parts: Parts,
    meant: (written: string | undefined) => Meant | null | undefined,
    field: Field,
  ): string | undefined;
}

// Spaces and quotes, which people put everywhere.
const sp = String.raw`[\s"'\u0060\u2018\u2019\u201c\u201d]{0,99}`;
const quotes = String.raw`["'\u0060\u2018\u2019\u201c\u201d]{0,9}`;
const to = String.raw`(?<to>\s{0,99}(?:to(?![a-z])|until\b|till\b|and\b|&&?|[-=]>|\.{2,3}|[\u2026,;:|/~<\u2012-\u2015-])|\s{1,99})`;
const dash = String.raw`\s{0,99}(?:to(?![a-z])|\.{2,3}|[\u2026\u2012-\u2015-])`;
const end = String.raw`(?=$|[\s,;&+|\])}])`;
const nextClause = String.raw`(?=$|,\s{0,99}(?:$|\w+\s{0,99}[:=<>]))`;

/** The table of rewrites, for bounds that look like `bound`. The first row that gives a clause that parses is taken. */
function rowsFor(bound: string): readonly Row[] {
  const row = (pattern: string, range: Row['range']): Row => ({ pattern: new RegExp(pattern, 'iuy'), range });
  const low = `${sp}(?<low>${bound})${quotes}`;
  const high = `${sp}(?<high>${bound})${quotes}`;
  return [
    // :[2 to 5], = (2 .. 5], :[TO 5], :["2" - "5", and an inverted range.
    row(
      String.raw`\s{0,99}[:=]{0,3}${sp}(?<open>[\[{(])[\[{(]{0,9}(?:${low})?${sp}${to}(?:${high})?${sp}(?:(?<close>[\]})])|${nextClause})`,
      ({ open, close, ...parts }, meant) => {
        const isOpenEnd = parts.low === undefined || parts.high === undefined;
        // Without " TO " there is no telling which end is missing.
        if (isOpenEnd && !/to/i.test(parts.to ?? '')) return undefined;
        if (parts.low === undefined && parts.high === undefined) return undefined;
        const ends = [
          { bound: meant(parts.low ?? '*'), isIncluded: open === '[' },
          { bound: meant(parts.high ?? '*'), isIncluded: close === undefined || close === ']' },
        ] as const;
        const [{ bound: lower }, { bound: upper }] = ends;
        const isInverted = lower && upper && compare(lower, upper) > 0;
        return isInverted ? rangeText(ends[1], ends[0]) : rangeText(ends[0], ends[1]);
      },
    ),
    // >= 2, :>2, = 5
    row(
      String.raw`\s{0,99}:?\s{0,99}(?<operator>>=|=>|\u2265|<=|=<|\u2264|==?|[><])${low}${end}`,
      (parts, meant) => {
        const { operator = '' } = parts;
        const end = { bound: meant(parts.low), isIncluded: !/^[<>]$/.test(operator) };
        if (end.bound === null) return undefined;
        const open = { bound: null, isIncluded: true };
        if (/[>\u2265]/.test(operator)) return rangeText(end, open);
        return /[<\u2264]/.test(operator) ? rangeText(open, end) : rangeText(end, end);
      },
    ),
    // BETWEEN 2 AND 5
    row(String.raw`\s{0,99}between\b${low}${sp}and\b${high}${end}`, (parts, meant) =>
      included(meant(parts.low), meant(parts.high)),
    ),
    // :2-5, :2 TO 5]
    row(String.raw`\s{0,99}:?${low}${sp}${dash}${high}${sp}[\]})]?${end}`, (parts, meant) =>
      included(meant(parts.low), meant(parts.high)),
    ),
    // :5, :2026-10-01
    row(String.raw`\s{0,99}:?${low}${end}`, (parts, meant) => included(meant(parts.low), meant(parts.low))),
  ];
}

const rows = {
  date: rowsFor(String.raw`\*|${datePattern}`),
  decimal: rowsFor(String.raw`\*|${numberPattern}`),
  // inc_gce, inc_gce=1, inc_gce:"true"
  flag: [
    {
      pattern:
        /\s{0,9}[:=]{0,3}\s{0,9}["']?(?:1|true|yes|on|\[\s{0,9}1\s+to\s+1\s{0,9}\])?["']?(?![\w.:=<>!~])/iuy,
      range: () => '1',
    },
  ],
} satisfies Record<Field['type'], readonly Row[]>;

/** One end of a range as it was meant. */
interface End {
  readonly bound: Meant | null | undefined;
  readonly isIncluded: boolean;
}

const included = (low: Meant | null | undefined, high: Meant | null | undefined): string | undefined =>
  rangeText({ bound: low, isIncluded: true }, { bound: high, isIncluded: true });

/**
 * The range as a filter writes it. An included day starts with its first second and ends before the next day; an excluded
 * day ends before its first second and starts with the next day.
 */
function rangeText(
  { bound: low, isIncluded: withLow }: End,
  { bound: high, isIncluded: withHigh }: End,
): string | undefined {
  if (low === undefined || high === undefined) return undefined;
  let from = '[*';
  if (low !== null) from = withLow ? `[${low.text}` : `{${low.text}`;
  if (low?.over !== undefined && !withLow) from = `[${low.over}`;
  let until = '*]';
  if (high !== null) until = withHigh ? `${high.text}]` : `${high.text}}`;
  if (high?.over !== undefined && withHigh) until = `${high.over}}`;
  return `${from} TO ${until}`;
}

/** The clause that was meant at an offset. Undefined when no row of the table gives one that parses. */
export function rewriteClause(text: string, start: number, options: ParseOptions): Rewrite | undefined {
  if (/^(?:(?:or|not)\b|[-!|])/i.test(text.slice(start, start + 4))) return undefined;
  const { written, field } = nameAt(text, start, options);
  if (field === undefined) return undefined;
  const nameEnd = start + written.length;
  const meant = (bound: string | undefined): Meant | null | undefined => {
    if (bound === undefined) return undefined;
    if (bound === '*') return null;
    return field.type === 'date' ? meantDate(bound) : meantNumber(bound, field);
  };
  for (const { pattern, range } of rows[field.type]) {
    pattern.lastIndex = nameEnd;
    const match = pattern.exec(text);
    const value = match === null ? undefined : range(match.groups ?? {}, meant, field);
    const clause = `${field.name}:${value}`;
    if (value !== undefined && parses(clause, options)) return { text: clause, end: pattern.lastIndex };
  }
  return undefined;
}

function parses(clause: string, options: ParseOptions): boolean {
  const reader = new Reader(clause, options);
  return attempt(() => reader.next()).fact === undefined && reader.pos === clause.length;
}
