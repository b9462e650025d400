import type { Call } from '@call-attribution/core';
import type { Filter } from '@call-attribution/query-dsl';
import { count } from '../text/notes.ts';
import type { Coverage, Stop } from '../text/summaries.ts';
import type { ToolContext } from './tool.ts';

/** Rows requested per page. The API does not name a largest page; a server that sends fewer is followed. */
const pageRows = 500;

/** Passes every call that matches a filter to `use`, up to the limits on rows and time, and reports how far it got. */
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
  let stop: Stop | undefined;
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
    if (seen.size >= rows && more) stop = { by: 'rows', rows };
    else if (context.now() - started > ms && more) stop = { by: 'time', ms };
    if (stop) break;
  }
  const complete = stop === undefined && (total === null || seen.size >= total);
  return { read: seen.size, total, repeated, complete, stop };
}
