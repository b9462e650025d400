import { type FieldSpec, fields } from '@call-attribution/core';
import type { Condition, Literal } from '@call-attribution/questions';
import { isRevealed, kindOfMask, maskingOf, type Reveal } from '../privacy/masking.ts';
import { replacePatterns } from '../privacy/patterns.ts';
import { ToolError } from '../text/failures.ts';

/** Finds the stored values that a mask stands for. */
export type Unmask = (field: string, mask: string) => Promise<readonly string[]>;

/**
 * The condition with the values that masks stand for. A mask can be compared for equality; a personal value itself is
 * refused, since whoever may try values learns who called.
 */
export async function unmasked(
  condition: Condition,
  reveal: ReadonlySet<Reveal>,
  unmask: Unmask,
): Promise<Condition> {
  const walk = (part: Condition): Promise<Condition> => unmasked(part, reveal, unmask);
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { ...condition, parts: await Promise.all(condition.parts.map(walk)) };
    case 'not':
      return { ...condition, part: await walk(condition.part) };
    case 'null':
    case 'flag':
      return condition;
    default:
  }
  const { field } = condition;
  const spec = fields.find(({ name }) => name === field);
  if (spec === undefined || !isMasked(spec, reveal)) {
    if (!isRevealed(reveal, 'text')) for (const text of textsOf(condition)) refusePersonalText(field, text);
    return condition;
  }
  const isEquality =
    condition.kind === 'in' || (condition.kind === 'compare' && ['=', '<>'].includes(condition.operator));
  const masks = textsOf(condition);
  if (!isEquality || masks.length === 0 || !masks.every((mask) => kindOfMask(mask) === maskingOf(spec).kind))
    throw new ToolError({ code: 'masked_field', field });
  const values = (await Promise.all(masks.map((mask) => unmask(field, mask)))).flat();
  const literals = values.map((text): Literal => ({ type: 'text', text }));
  // A mask that nobody has: a condition that holds for no call.
  const found: Condition = {
    kind: 'in',
    field,
    exact: true,
    values: literals.length > 0 ? literals : [{ type: 'text', text: '\u0000' }],
  };
  return condition.kind === 'compare' && condition.operator === '<>' ? { kind: 'not', part: found } : found;
}

/** Are the values of a field shown as masks? */
export const isMasked = (spec: FieldSpec, reveal: ReadonlySet<Reveal>): boolean =>
  spec.personal && !isRevealed(reveal, maskingOf(spec).revealedBy);

function textsOf(condition: Exclude<Condition, { kind: 'and' | 'or' | 'not' | 'null' | 'flag' }>): string[] {
  const literals =
    condition.kind === 'compare' ? [condition.value] : condition.kind === 'in' ? condition.values : [];
  const strings = literals.flatMap((literal) => (literal.type === 'text' ? [literal.text] : []));
  return condition.kind === 'like' ? [condition.pattern] : strings;
}

function refusePersonalText(field: string, text: string): void {
  // The wildcards of LIKE would hide what stands between them, or make an escape of it: %30.
  const plain = text.replace(/[%_]/g, ' ');
  if ([text, plain].some((each) => replacePatterns(each, () => '') !== each))
    throw new ToolError({ code: 'masked_field', field });
}
