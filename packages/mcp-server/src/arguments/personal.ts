import type { FieldSpec } from '@call-attribution/core';
import type { Condition } from '@call-attribution/questions';
import { findField } from '../fields/select.ts';
import { agentsSee, isPseudonym, neededAsTheyAre, type Reveal } from '../privacy/mask.ts';
import { scrub } from '../privacy/scrub.ts';
import { ToolError } from '../text/failures.ts';

type Test = Exclude<Condition, { kind: 'and' | 'or' | 'not' }>;

/** Says that what is hidden cannot be searched for: such a condition would never hold, and that would look like an answer. */
export function refusePersonal(
  condition: Condition,
  context: { readonly fields: readonly FieldSpec[]; readonly reveal: ReadonlySet<Reveal> },
): void {
  if ('parts' in condition) for (const part of condition.parts) refusePersonal(part, context);
  else if (condition.kind === 'not') refusePersonal(condition.part, context);
  else if (condition.kind !== 'null' && condition.kind !== 'flag') {
    const spec = findField(context.fields, condition.field);
    const see = spec === undefined ? 'shown' : agentsSee(spec, context.reveal);
    const texts = textsOf(condition);
    const looksPersonal = (text: string): boolean => {
      const isNeeded = neededAsTheyAre.has(spec?.name ?? '') || spec?.isId === true;
      const isOpen = context.reveal.has('all') || context.reveal.has('text');
      // The wildcards of LIKE would hide what stands between them.
      return !isNeeded && !isOpen && [text, text.replace(/[%_]/g, ' ')].some((each) => scrub(each) !== each);
    };
    const isRefused = {
      hidden: () => true,
      pseudonym: () => condition.kind === 'like' || !texts.every(isPseudonym),
      shown: () => texts.some(looksPersonal),
    };
    if (isRefused[see]()) throw new ToolError({ code: 'hidden_field', field: condition.field, see });
  }
}

function textsOf(test: Exclude<Test, { kind: 'null' | 'flag' }>): readonly string[] {
  if (test.kind === 'like') return [test.pattern];
  const values = test.kind === 'in' ? test.values : [test.value];
  return values.map((value) => ('text' in value ? value.text : ''));
}
