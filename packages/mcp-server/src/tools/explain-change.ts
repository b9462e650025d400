import type { FieldSpec } from '@call-attribution/core';
import type { Answer, AnswerValue, Question } from '@call-attribution/questions';
import { findField } from '../fields/select.ts';
import { type Cell, keyTextLimit, showValue } from '../fields/view.ts';
import { count } from '../text/notes.ts';
import type { ToolContext } from './tool.ts';

// What changed between two periods, and where: the same comparison by everything that usually explains it.

const dimensions = [
  'channel',
  'ppc_campaign',
  'ppc_keywords',
  'landing_page',
  'vt_device',
  'state',
  'weekday',
  'hour',
];
const mostRows = 12;

/** A group that changed. */
interface Change {
  readonly by: string;
  readonly value: Cell;
  readonly calls: number;
  readonly before: number;
}

/** The groups that changed most, and how much of the whole change they are. */
export interface ChangeFound {
  readonly sentence: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Asks a question of two periods by each dimension. */
export async function explainChange(question: Question, context: ToolContext): Promise<ChangeFound> {
  const { groupBy: _, having: __, order: ___, topPer: ____, spend: _____, ...asked } = question;
  const { answers } = await context.source.analyze(
    dimensions.map((by) => ({ ...asked, groupBy: [by], measures: ['calls'], limit: 5000 })),
    context,
  );
  const found = answers.flatMap((answer, i) => changesOf(dimensions[i] ?? '', answer, context));
  const { calls, calls_before: before } = answers[0]?.total ?? {};
  const whole = numberOf(calls) - numberOf(before);
  // A group of one dimension moves with those of others: the largest of each come first.
  const sorted = found.sort((a, b) => Math.abs(b.calls - b.before) - Math.abs(a.calls - a.before));
  const perDimension = new Map<string, number>();
  const rows = sorted.filter(({ by }) => {
    const seen = perDimension.get(by) ?? 0;
    perDimension.set(by, seen + 1);
    return seen < 3;
  });
  return {
    sentence: `${largestOf(rows[0], whole)} Groups of different fields overlap: do not add them up.`,
    columns: ['by', 'value', 'calls', 'calls_before', 'calls_change'],
    rows: rows
      .slice(0, mostRows)
      .map(({ by, value, calls, before }) => [by, value, calls, before, calls - before]),
  };
}

function largestOf(first: Change | undefined, whole: number): string {
  if (first === undefined) return 'No group changed.';
  const { by, value, calls, before } = first;
  const part = whole === 0 ? '' : ` (${Math.round(((calls - before) / whole) * 100)}% of the whole change)`;
  return `The largest change: ${by} ${value ?? '(none)'}, from ${count(before)} to ${count(calls)}${part}.`;
}

const numberOf = (value: AnswerValue | undefined): number => (typeof value === 'number' ? value : 0);

function shown(spec: FieldSpec | undefined, value: AnswerValue): Cell {
  if (value === null) return null;
  return spec === undefined || typeof value === 'boolean'
    ? String(value)
    : showValue(spec, value, keyTextLimit);
}

function changesOf(by: string, answer: Answer, { fields }: ToolContext): Change[] {
  const spec = findField(fields, by);
  return answer.rows.flatMap((row) => {
    const [calls, before] = [numberOf(row.calls), numberOf(row.calls_before)];
    if (calls === before) return [];
    return [{ by, value: shown(spec, row[by] ?? null), calls, before }];
  });
}
