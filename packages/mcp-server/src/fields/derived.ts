import { type FieldSpec, fields } from '@call-attribution/core';
import { type QuestionField, questionFields, touches } from '@call-attribution/questions';
import { findField, toName } from './select.ts';

const ofCalls: ReadonlySet<string> = new Set(fields.map(({ name }) => name));
const ofQuestions = questionFields();

/** Fields that questions know and calls do not have: they follow from other fields, or from other calls. */
export const derivedFields: readonly QuestionField[] = [...new Set(ofQuestions.values())].filter(
  ({ name }) => !ofCalls.has(name),
);

/** The derived field that a name means. */
export function findDerived(given: string): QuestionField | undefined {
  const name = ofQuestions.get(toName(given))?.name;
  return derivedFields.find((field) => field.name === name);
}

/** The field by whose rules values of a field of a question are shown: its own, or that of the field that they come from. */
export const shownAs = (specs: readonly FieldSpec[], name: string): FieldSpec | undefined =>
  // A click id comes out of an address that a visitor may have written.
  findField(specs, name === 'click_id' ? 'ppc_gclid' : (touches.get(name)?.field ?? name));
