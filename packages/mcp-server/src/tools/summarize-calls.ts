import type { Call } from '@call-attribution/core';
import type { Filter } from '@call-attribution/query-dsl';
import * as z from 'zod';
import { chooseFilter, filterShape } from '../arguments/filter.ts';
import type { Cell } from '../fields/view.ts';
import { createGrouping, type Group, groupKeys } from '../results/groups.ts';
import { countThatFits, estimateTokens } from '../results/table.ts';
import { count, fieldNotes } from '../text/notes.ts';
import {
  type Coverage,
  coverageSummary,
  groupsSummary,
  repeatedNotes,
  type Stop,
} from '../text/summaries.ts';
import { defineTool, readsApi, type ToolContext } from './tool.ts';

const defaultLimit = 20;

/** Rows requested per page. The API does not name a largest page; a server that sends fewer is followed. */
const pageRows = 500;

/** Fields that are part of every summary, if only in its filter and measures. */
const measuredFields = ['date_added', 'talk_minutes'];

/** Groups calls and measures the groups. */
export const summarizeCalls = defineTool({
  name: 'summarize_calls',
  title: 'Summarize calls',
  description:
    'Calls, share, talk minutes and their mean per group, most calls first. Says how much it read.',
  input: z.object({
    ...filterShape,
    group_by: z
      .array(z.string().max(60))
      .min(1)
      .max(3)
      .optional()
      .describe('Fields, day, hour, weekday, month; default channel'),
    limit: z.number().int().min(1).max(200).optional().describe(`Groups, default ${defaultLimit}`),
  }),
  output: z.object({
    summary: z.string(),
    filter: z.string(),
    columns: z.array(z.string()),
    rows: z.array(z.array(z.any())),
    groups: z.number().int(),
    calls: z.number().int(),
    talk_minutes: z.number(),
    complete: z.boolean(),
    notes: z.array(z.string()),
  }),
  annotations: readsApi,
  async run(args, context) {
    const chosen = chooseFilter(args, context.version);
    const keys = groupKeys(args.group_by ?? ['channel'], context);
    const grouping = createGrouping(keys);
    const coverage = await readAll(chosen.filter, context, grouping.add);
    const columns = [...keys.names, 'calls', 'share_percent', 'talk_minutes', 'mean_talk_minutes'];
    const specs = keys.specs.concat(context.fields.filter((spec) => measuredFields.includes(spec.name)));
    const notes = [...chosen.notes, ...fieldNotes(specs, context), ...repeatedNotes(coverage.repeated)];
    const ranked = grouping.ranked();
    const calls = total(ranked, (group) => group.calls);
    const allowed = ranked.slice(0, args.limit ?? defaultLimit).map((group) => measured(group, calls));
    const words = estimateTokens(JSON.stringify([chosen.text, notes])) + 200;
    const shown = allowed.slice(0, countThatFits(allowed, columns, context.budget - words));
    const groups = groupsSummary({
      groups: ranked.length,
      shown: shown.length,
      allowed: allowed.length,
      calls,
      otherCalls: total(ranked.slice(shown.length), (group) => group.calls),
    });
    return {
      summary: `${coverageSummary(coverage)} ${groups}`,
      filter: chosen.text,
      columns,
      rows: shown,
      groups: ranked.length,
      calls,
      talk_minutes: total(ranked, (group) => group.tenths) / 10,
      complete: coverage.complete,
      notes,
    };
  },
});

function total(groups: readonly Group[], of: (group: Group) => number): number {
  return groups.reduce((sum, group) => sum + of(group), 0);
}

function measured(group: Group, allCalls: number): Cell[] {
  const share = Math.round((group.calls / allCalls) * 1000) / 10;
  const mean = Math.round((group.tenths / group.calls) * 10) / 100;
  return [...group.key, group.calls, share, group.tenths / 10, mean];
}

/** Passes every call that matches a filter to `use`, up to the limits on rows and time, and reports how far it got. */
async function readAll(
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
  for await (const page of client.listCalls(query).pages()) {
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
