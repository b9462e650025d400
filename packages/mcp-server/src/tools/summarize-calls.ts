import type { Call, FieldSpec } from '@call-attribution/core';
import * as z from 'zod';
import { chooseFilter, filterShape } from '../arguments/filter.ts';
import { selectField } from '../fields/select.ts';
import type { Cell } from '../fields/view.ts';
import { countThatFits } from '../results/fit.ts';
import { createGrouping, type Group, type Grouping, timeParts } from '../results/groups.ts';
import { fieldNotes } from '../results/notes.ts';
import { estimateTokens } from '../results/tokens.ts';
import { counted } from '../results/words.ts';
import { readAll } from './read-all.ts';
import { defineTool, readsService, type ToolContext } from './tool.ts';

const textLimit = 80;
const defaultLimit = 20;

/** Fields that show in every summary, if only in its bounds and measures. */
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
  annotations: readsService,
  async run(args, context) {
    const chosen = chooseFilter(args, context.version);
    const keys = keysOf(args.group_by ?? ['channel'], context);
    const grouping = createGrouping();
    const read = await readAll(chosen.filter, context, (call) =>
      grouping.add(keys.of(call), call.talk_minutes),
    );
    const columns = [...keys.names, 'calls', 'share_percent', 'talk_minutes', 'mean_talk_minutes'];
    const units = keys.specs.concat(context.fields.filter((spec) => measuredFields.includes(spec.name)));
    const notes = [...chosen.notes, ...fieldNotes(units, context), ...read.notes];
    const ranked = grouping.ranked();
    const wanted = ranked.slice(0, args.limit ?? defaultLimit);
    const rows = wanted.map((group) => measured(group, grouping));
    const words = estimateTokens(JSON.stringify([chosen.text, notes])) + 200;
    const shown = rows.slice(0, countThatFits(rows, columns, context.budget - words));
    return {
      summary: `${read.sentence} ${groupsSentence(shown.length, wanted.length, ranked, grouping)}`,
      filter: chosen.text,
      columns,
      rows: shown,
      groups: ranked.length,
      calls: grouping.calls,
      talk_minutes: grouping.tenths / 10,
      complete: read.complete,
      notes,
    };
  },
});

interface Keys {
  readonly names: readonly string[];
  readonly specs: readonly FieldSpec[];
  of(call: Call): Cell[];
}

function keysOf(groupBy: readonly string[], context: ToolContext): Keys {
  const parts = groupBy.map((name) => {
    const wanted = name.trim().toLowerCase();
    const part = Object.hasOwn(timeParts, wanted) ? timeParts[wanted] : undefined;
    if (part)
      return { name: wanted, specs: dateSpec(context), of: (call: Call) => part(String(call.date_added)) };
    const spec = selectField(context.fields, context.version, wanted);
    const specs = [spec];
    return {
      name: spec.name,
      specs,
      of: (call: Call) => context.view(call, specs, textLimit)[0] ?? null,
    };
  });
  return {
    names: parts.map((part) => part.name),
    specs: parts.flatMap((part) => part.specs),
    of: (call) => parts.map((part) => part.of(call)),
  };
}

function dateSpec(context: ToolContext): readonly FieldSpec[] {
  return context.fields.filter((spec) => spec.name === 'date_added');
}

function measured(group: Group, all: Grouping): Cell[] {
  const share = Math.round((group.calls / all.calls) * 1000) / 10;
  const mean = Math.round((group.tenths / group.calls) * 10) / 100;
  return [...group.key, group.calls, share, group.tenths / 10, mean];
}

function groupsSentence(shown: number, wanted: number, ranked: readonly Group[], all: Grouping): string {
  if (ranked.length === 0) return '';
  const groups = counted(ranked.length, 'group', 'groups');
  if (shown === ranked.length) return `${groups}, all shown.`;
  const rest = ranked.slice(shown).reduce((sum, group) => sum + group.calls, 0);
  const share = Math.round((rest / all.calls) * 100);
  const more = shown < wanted ? 'More do not fit: narrow the question.' : 'A higher limit shows more.';
  return `${groups}; the ${shown} largest are shown, the others have ${counted(rest, 'call', 'calls')} (${share}%). ${more}`;
}
