import type { FieldSpec } from '@call-attribution/core';
import { hiddenMark, isPseudonym, type MaskedCall } from '../privacy/mask.ts';
import { cleanText, cutText, fence } from '../privacy/text.ts';

/** A value as an agent sees it. */
export type Cell = string | number | null;

/** Strings in the groups of a table are cut to this length. */
export const keyTextLimit = 80;

/** Shows the fields of one record: masked, text cleaned and fenced, numbers as numbers. */
export type RecordView = (
  call: Readonly<Record<string, unknown>>,
  specs: readonly FieldSpec[],
  textLimit: number,
) => Cell[];

/** Shows a value of a masked record: text fenced, numbers as numbers. */
export function showValue(spec: FieldSpec, value: unknown, textLimit: number): Cell {
  if (value === null || value === undefined || value === '') return null;
  const text = cleanText(String(value));
  if (numeric.has(spec.type) && numberForm.test(text)) {
    const number = Number(text);
    return Number.isSafeInteger(Math.trunc(number)) ? number : text;
  }
  // What the table and this server know says nothing that a stranger has written.
  const isKnown =
    text === hiddenMark ||
    (spec.agents === 'pseudonym' && isPseudonym(text)) ||
    /^[\d.:+ -]*$/.test(text) ||
    spec.values?.some((each) => String(each) === text) === true ||
    (ownIds.has(spec.name) && /^[\w.:-]+$/.test(text));
  const cut = cutText(text, textLimit);
  return isKnown ? cut : fence(cut);
}

/** Shows fields of a record. */
export const showRecord = (call: MaskedCall, specs: readonly FieldSpec[], textLimit: number): Cell[] =>
  specs.map((spec) => showValue(spec, Reflect.get(call, spec.name), textLimit));

/** Ids that the server of the API makes; others pass through a browser. */
const ownIds: ReadonlySet<string> = new Set(['sid', 'acct_id']);

const numeric: ReadonlySet<string> = new Set(['decimal-string', 'integer-string', 'integer']);
const numberForm = /^-?\d{1,15}(?:\.\d{1,3})?$/;
