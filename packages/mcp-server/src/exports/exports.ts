import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@call-attribution/core';
import { csvLine } from '@call-attribution/node-stream/encoders';
import { isObject } from '../protocol/messages.ts';
import { cellsOf } from '../results/table.ts';
import { isBegun } from '../source/unfinished.ts';
import { ToolError } from '../text/failures.ts';
import {
  type CallRequest,
  orFailure,
  type ToolResult,
  type ToolRunner,
  type ToolStep,
} from '../tools/call.ts';

// The rows that an answer had no room for, as CSV: a link in the answer, which expires.

const prefix = 'calls://export/';
/** How long a link can be read. */
const minutes = 30;
const mostLinks = 200;
/** Most calls of a tool for one answer. */
const mostSteps = 20;
/** Most rows of a file. Whoever needs more runs `calls export`. */
const mostRows = 10_000;

interface Kept {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly until: number;
}

/** A file that was read. */
export interface ExportFile {
  readonly uri: string;
  readonly mimeType: 'text/csv';
  readonly text: string;
}

/** Links to the rows of answers. */
export interface Exports {
  /** Adds a link to an answer that leaves rows out. */
  readonly step: ToolStep;
  /** The rows behind a link. Undefined when it has expired or never was. */
  read(uri: string, request: CallRequest): Promise<ExportFile | undefined>;
}

/**
 * Makes the links of one server. `run` has no limit on the size of a result. `folder`: where files are written for a host on the same
 * machine; null without.
 */
export function createExports(
  run: ToolRunner,
  clock: Pick<Clock, 'now'>,
  folder: string | null = null,
): Exports {
  const links = new Map<string, Kept>();
  /** What was asked when a question began that goes on with this cursor. */
  const begun = new Map<string, Kept['args']>();
  /** The same where the rows go into a file. */
  const files = new Map<string, Kept['args']>();

  const keep = (tool: string, args: Kept['args']): string => {
    for (const [uri, { until }] of links)
      if (until <= clock.now() || links.size >= mostLinks) links.delete(uri);
    const uri = `${prefix}${randomBytes(9).toString('base64url')}.csv`;
    links.set(uri, { tool, args, until: clock.now() + minutes * 60_000 });
    return uri;
  };

  /** Undefined when another process began the question. */
  const asked = (args: unknown): Kept['args'] | undefined => {
    if (!isObject(args)) return {};
    const { cursor } = args;
    return typeof cursor === 'string' && isBegun(cursor) ? begun.get(cursor.trim()) : args;
  };

  /** The rows of an answer as a file, or how the question goes on whose rows go into one. */
  const toFile = async (
    place: string,
    { tool, args }: Asked,
    cursor: string | null,
    request: CallRequest,
  ): Promise<ToolResult> => {
    const first = await run(tool, cursor === null ? firstOf(tool, args) : { cursor }, request);
    if (typeof first.go_on !== 'string') return written(run, place, { tool, args }, first, request);
    remember(files, first.go_on, args);
    return { content: [{ type: 'text', text: JSON.stringify(first) }], structuredContent: first };
  };

  return {
    async step(next, tool, args, request) {
      if (folder !== null && isObject(args) && csvOf[tool] !== undefined) {
        const cursor = typeof args.cursor === 'string' ? args.cursor.trim() : '';
        const own = files.get(cursor);
        if (own !== undefined || isTrue(args.to_file))
          return orFailure(() => {
            const whole = own ?? asked(args);
            if (whole === undefined) throw new ToolError({ code: 'lost_question' });
            return toFile(folder, { tool, args: whole }, own === undefined ? null : cursor, request ?? {});
          });
      }
      const result = await next(tool, args, request);
      const data = result.structuredContent;
      const whole = asked(args);
      if (data === undefined || whole === undefined) return result;
      for (const cursor of [data.go_on, data.next_cursor]) remember(begun, cursor, whole);
      if (!leavesRowsOut(tool, data)) return result;
      const link = {
        type: 'resource_link' as const,
        uri: keep(tool, whole),
        name: `${tool}.csv`,
        mimeType: 'text/csv',
        description: `All rows of this answer as CSV, up to ${mostRows}; for ${minutes} minutes.`,
      };
      return { ...result, content: [...result.content, link] };
    },
    async read(uri, request) {
      const kept = links.get(uri);
      if (kept === undefined || kept.until <= clock.now()) return undefined;
      const { tool, args } = kept;
      const first = await run(tool, firstOf(tool, args), request);
      const text = (await csvOf[tool]?.(run, kept, first, request)) ?? '';
      return { uri, mimeType: 'text/csv', text };
    },
  };
}

function remember(known: Map<string, Kept['args']>, cursor: unknown, args: Kept['args']): void {
  if (typeof cursor !== 'string' || !isBegun(cursor)) return;
  const [oldest] = known.keys();
  if (known.size >= mostLinks && oldest !== undefined) known.delete(oldest);
  known.set(cursor, args);
}

type Asked = Pick<Kept, 'tool' | 'args'>;
type Answer = Readonly<Record<string, unknown>>;

/** The arguments that ask for all rows: a list has all that a file may have. */
function firstOf(tool: string, { to_file: _, limit: __, rows: ___, cursor: ____, ...rest }: Kept['args']) {
  return tool === 'list_calls' ? rest : { ...rest, limit: mostRows };
}

/** Whose rows there are files of. */
const csvOf: Readonly<
  Record<
    string,
    ((run: ToolRunner, asked: Asked, first: Answer, request: CallRequest) => Promise<string>) | undefined
  >
> = { list_calls: callsCsv, analyze_calls: groupsCsv };

const isTrue = (value: unknown): boolean => value === true || value === 'true';

/** Writes the rows to a file that the host can open, and says where it is. */
async function written(
  run: ToolRunner,
  folder: string,
  { tool, args }: Asked,
  first: Answer,
  request: CallRequest,
): Promise<ToolResult> {
  const text = await (csvOf[tool] ?? callsCsv)(run, { tool, args }, first, request);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${tool}-${randomBytes(6).toString('hex')}.csv`);
  await writeFile(file, text, { mode: 0o600, flag: 'wx' });
  const count = Math.max(0, text.split('\n').length - 2);
  const data = {
    summary: `Wrote ${count} rows as CSV to ${file}.`,
    ...(tool === 'list_calls' ? { first: 0, last: 0 } : { complete: true }),
    columns: [],
    rows: [],
    notes: count >= mostRows ? [`A file has at most ${mostRows} rows; calls export writes more.`] : [],
  };
  return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data };
}

/** Does this address look like one of these links? */
export const isExportUri = (uri: string): boolean => uri.startsWith(prefix);

function leavesRowsOut(tool: string, data: Readonly<Record<string, unknown>>): boolean {
  if (tool === 'list_calls') return data.next_cursor !== undefined;
  return tool === 'analyze_calls' && Array.isArray(data.rows) && Number(data.groups) > data.rows.length;
}

// Text from visitors may begin like a formula, and people open these files in spreadsheets.
const line = (cells: readonly unknown[]): string => csvLine(cells, { safe: true });

async function groupsCsv(
  run: ToolRunner,
  { tool }: Asked,
  first: Answer,
  request: CallRequest,
): Promise<string> {
  const { columns, rows } = cellsOf(await finished(run, tool, first, request));
  return line(columns) + rows.map(line).join('');
}

/** An answer that takes several calls of a tool. Rows that are not all of them make no file, which nobody could tell from a whole one. */
async function finished(
  run: ToolRunner,
  tool: string,
  first: Answer,
  request: CallRequest,
): Promise<Record<string, unknown>> {
  let found = first;
  for (let left = mostSteps; left > 0 && typeof found.go_on === 'string'; left -= 1)
    found = await run(tool, { cursor: found.go_on }, request);
  if (found.complete === false)
    throw new ToolError({ code: 'rows_missing', tool, said: [found.summary, found.notes].flat().join(' ') });
  return found;
}

async function callsCsv(
  run: ToolRunner,
  { tool, args }: Asked,
  first: Answer,
  request: CallRequest,
): Promise<string> {
  const asked = firstOf(tool, args);
  const pages: ReturnType<typeof cellsOf>[] = [];
  let count = 0;
  for (let next = first; ; ) {
    const page = await finished(run, tool, next, request);
    const part = cellsOf(page);
    pages.push(part);
    count += part.rows.length;
    if (page.next_cursor === undefined || count >= mostRows) break;
    next = await run(tool, { ...asked, cursor: page.next_cursor }, request);
  }
  // A page leaves out columns that are empty on it.
  const columns = [...new Set(pages.flatMap((page) => page.columns))];
  const cells = pages.flatMap((page) => {
    const places = columns.map((column) => page.columns.indexOf(column));
    return page.rows.map((row) => places.map((place) => (place < 0 ? null : row[place])));
  });
  return line(columns) + cells.slice(0, mostRows).map(line).join('');
}
