import type { FieldSpec } from '@call-attribution/core';
import type { Condition } from '@call-attribution/questions';
import { findField } from '../fields/select.ts';
import { neededAsTheyAre } from '../privacy/mask-record.ts';
import { isMasked, isRevealed, kindOfMask, maskingOf, type Reveal } from '../privacy/masking.ts';
import { replacePatterns } from '../privacy/patterns.ts';
import { ToolError } from '../text/failures.ts';

type Test = Exclude<Condition, { kind: 'and' | 'or' | 'not' }>;

/**
 * Says that personal data cannot be searched for. Records are masked before they are asked, so such a condition would never hold: that
 * would look like an answer.
 */
export function refusePersonal(
  condition: Condition,
  context: { readonly fields: readonly FieldSpec[]; readonly reveal: ReadonlySet<Reveal> },
): void {
  if ('parts' in condition) for (const part of condition.parts) refusePersonal(part, context);
  else if (condition.kind === 'not') refusePersonal(condition.part, context);
  else refuseTest(condition, context);
}

function refuseTest(
  test: Test,
  { fields, reveal }: { readonly fields: readonly FieldSpec[]; readonly reveal: ReadonlySet<Reveal> },
): void {
  if (test.kind === 'null' || test.kind === 'flag') return;
  const spec = findField(fields, test.field);
  const texts = textsOf(test);
  const isHidden = spec !== undefined && isMasked(spec, reveal);
  const isRefused = isHidden
    ? test.kind === 'like' || !texts.every((text) => kindOfMask(text) === maskingOf(spec).kind)
    : !isRevealed(reveal, 'text') && !neededAsTheyAre.has(spec?.name ?? '') && texts.some(looksPersonal);
  if (isRefused) throw new ToolError({ code: 'masked_field', field: test.field });
}

function textsOf(test: Exclude<Test, { kind: 'null' | 'flag' }>): readonly string[] {
  if (test.kind === 'like') return [test.pattern];
  const values = test.kind === 'in' ? test.values : [test.value];
  return values.map((value) => ('text' in value ? value.text : ''));
}

/** The wildcards of LIKE would hide what stands between them, or make an escape of it: %30. */
const looksPersonal = (text: string): boolean =>
  kindOfMask(text) === undefined &&
  [text, text.replace(/[%_]/g, ' ')].some((each) => replacePatterns(each, () => '') !== each);
