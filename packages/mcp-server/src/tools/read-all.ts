import type { Call } from '@call-attribution/core';
import type { Filter } from '@call-attribution/query-dsl';
import { count, counted } from '../results/words.ts';
import type { ToolContext } from './tool.ts';

/** Rows asked a page. The API text names no largest page; a server that gives fewer is followed. */
const pageRows = 500;

/** How much of a list was read. */
export interface Coverage {
  readonly complete: boolean;
  readonly sentence: string;
  readonly notes: readonly string[];
}

/** Hands every call that a filter chooses to `use`, up to the limits on rows and time, and says how far it came. */
export async function readAll(
  filter: Filter | undefined,
  context: ToolContext,
  use: (call: Call) => void,
): Promise<Coverage> {
  const { rows, ms } = context.summaryLimits;
  const started = context.now();
  const client = await context.client();
  const seen = new Set<string>();
  let total: number | null = null;
  let repeated = 0;
  let stoppedBy: string | undefined;
  const query = { rows: Math.min(pageRows, rows), signal: context.signal, ...(filter ? { filter } : {}) };
  for await (const page of client.pages(query)) {
    total = page.range?.total ?? total;
    for (const call of page.records) {
      if (seen.has(call.sid)) {
        repeated += 1;
      } else if (seen.size < rows) {
        seen.add(call.sid);
        use(call);
      }
    }
    context.progress(seen.size, total, `Read ${count(seen.size)} calls`);
    const more = total === null || seen.size + repeated < total;
    if (seen.size >= rows && more) stoppedBy = `the limit of ${count(rows)} calls`;
    else if (context.now() - started > ms && more)
      stoppedBy = `the limit of ${Math.round(ms / 1000)} seconds`;
    if (stoppedBy !== undefined) break;
  }
  const notes =
    repeated === 0
      ? []
      : [`${count(repeated)} repeated rows were counted once: the list moved while it was read.`];
  const complete = stoppedBy === undefined && (total === null || seen.size >= total);
  return { complete, sentence: sentence(seen.size, total, complete, stoppedBy), notes };
}

function sentence(
  read: number,
  total: number | null,
  complete: boolean,
  stoppedBy: string | undefined,
): string {
  if (complete) return read === 0 ? 'No call matches.' : `Read all ${counted(read, 'call', 'calls')}.`;
  const of = total === null ? '' : ` of ${count(total)}`;
  const why = stoppedBy === undefined ? 'the list moved while it was read' : `stopped by ${stoppedBy}`;
  return `INCOMPLETE: read only ${count(read)}${of} calls, ${why}. Numbers below are for those; narrow from/to for exact ones.`;
}
