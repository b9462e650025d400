import { fields } from '@call-attribution/core';
import type { Answer, Question, QuestionField } from '@call-attribution/questions';
import { shownAs } from '../fields/derived.ts';
import { type Cell, showValue } from '../fields/view.ts';
import type { FieldFacts } from './source.ts';

/** How often derived fields have no value, and their most frequent values. `ask` answers questions over all calls, or over some. */
export async function derivedFacts(
  derived: readonly QuestionField[],
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): Promise<readonly FieldFacts[]> {
  const own = derived.filter(({ needsSequence }) => !needsSequence);
  const answers = await ask(
    own.map(
      ({ name }): Question => ({
        groupBy: [name],
        measures: ['calls', `without(${name}) as nothing`],
        order: 'calls desc',
        limit: 4,
        calls: 'all',
        // Records were masked before.
        personal: 'show',
      }),
    ),
  );
  return derived.map((field): FieldFacts => {
    const answer = answers[own.indexOf(field)];
    return answer === undefined ? { name: field.name, nulls: null, top: [] } : factsIn(field.name, answer);
  });
}

function factsIn(name: string, { rows, total, calls }: Answer): FieldFacts {
  const top = rows
    .map((row) => [shown(name, row[name]), Number(row.calls)] as const)
    .filter(([value, count]) => value !== null && count > 0);
  return {
    name,
    nulls: calls === 0 ? 0 : Number(total.nothing) / calls,
    // Values that occur once say nothing.
    top: (top[0]?.[1] ?? 0) > 1 ? top.slice(0, 3) : [],
  };
}

function shown(name: string, value: unknown): Cell {
  const spec = shownAs(fields, name);
  if (spec !== undefined) return showValue(spec, value, 60);
  if (typeof value === 'number') return Number(value.toFixed(2));
  return value === null || value === undefined ? null : String(value);
}
