import type { FieldSpec, Version } from '@call-attribution/core';
import { type CallSelection, type Condition, parseCondition } from '@call-attribution/questions';
import * as z from 'zod';
import type { Period } from '../copy/copy.ts';
import type { Reveal } from '../privacy/mask.ts';
import { ToolError } from '../text/failures.ts';
import { extensionNotes } from '../text/notes.ts';
import type { Scope } from '../text/summaries.ts';
import { readPeriod } from './period.ts';
import { refusePersonal } from './personal.ts';

/** Calls from visits of a website, calls through call extensions of ads, or both. */
type CallKind = NonNullable<CallSelection['calls']>;

/** Arguments that choose calls. */
export const selectionShape = {
  period: z.string().max(80).optional().describe('last month, last 28 days, 2026-Q3, 2026-10'),
  from: z.string().max(40).optional().describe('Or YYYY-MM-DD[ HH:MM:SS], today, 28d (28 days ago)'),
  to: z.string().max(40).optional().describe('Day included, time excluded'),
  calls: z.enum(['website', 'extensions', 'all']).optional().describe('Default website: no call extensions'),
  where: z.string().max(4000).optional().describe('SQL-like condition on any field'),
  time_zone: z.string().max(60).optional().describe('IANA name, default the zone of the account'),
};

/** The arguments of `selectionShape`, each optional. */
export interface SelectionArguments {
  readonly period?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly calls?: CallKind | undefined;
  readonly where?: string | undefined;
  readonly time_zone?: string | undefined;
  readonly caller?: string | undefined;
}

/** What a selection depends on besides its arguments. */
export interface SelectionContext {
  readonly version: Version;
  readonly fields: readonly FieldSpec[];
  readonly reveal: ReadonlySet<Reveal>;
  readonly timeZone?: string;
  /** The naive time of now, in the zone of the account. */
  now(zone?: string): number;
}

/** A selection, and what to say about it. */
export interface Chosen {
  readonly selection: CallSelection;
  /** Its period, as naive times. */
  readonly period: Period;
  /** What belongs to a cursor: everything that decides which calls there are. */
  readonly text: string;
  readonly scope: Scope;
  readonly notes: readonly string[];
}

/** Makes the selection of a call. Throws an error that says what is wrong and the nearest right thing. */
export function choose(args: SelectionArguments, context: SelectionContext): Chosen {
  const { calls, where, time_zone: inZone, caller } = args;
  const { version, timeZone } = context;
  const period = readPeriod(args, inZone, context);
  const kind = calls ?? (version === 'v2' ? 'all' : 'website');
  const conditions = [
    ...(where === undefined ? [] : [readWhere(where)]),
    ...(caller === undefined ? [] : [isCaller(caller)]),
  ];
  for (const condition of conditions) refusePersonal(condition, context);
  const selection: CallSelection = {
    ...(period.from === null ? {} : { from: period.from }),
    ...(period.to === null ? {} : { to: period.to }),
    calls: kind,
    ...(conditions.length === 0 ? {} : { where: { kind: 'and', parts: conditions } }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(inZone === undefined || inZone === timeZone ? {} : { inZone }),
  };
  return {
    selection,
    period,
    text: JSON.stringify([period.from, period.to, kind, where, caller, inZone]),
    scope: { from: period.from, to: period.to, kind, version, isNarrowed: conditions.length > 0 },
    notes: [...period.notes, ...extensionNotes(version, kind)],
  };
}

const isCaller = (mask: string): Condition => ({
  kind: 'compare',
  field: 'ani',
  operator: '==',
  value: { type: 'text', text: mask.trim() },
});

function readWhere(text: string): Condition {
  // Values may be written as answers show them.
  const result = parseCondition(text.replace(/[«»]/g, ''));
  if (result.ok) return result.condition;
  const { message, frame, corrected } = result.problem;
  throw new ToolError({ code: 'invalid_where', argument: 'where', message, frame, corrected });
}
