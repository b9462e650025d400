import type { FieldSpec } from '@call-attribution/core';
import type { MaskedCall } from '../privacy/mask-record.ts';
import { cleanText, cutText, fence } from '../privacy/untrusted.ts';

/** A value as an agent sees it. */
export type Cell = string | number | null;

/** Strings in the groups of a table are cut to this length. */
export const keyTextLimit = 80;

/** Shows the fields of one record: personal data masked, visitor text cleaned and fenced, numbers as numbers. */
export type RecordView = (
  call: Readonly<Record<string, unknown>>,
  specs: readonly FieldSpec[],
  textLimit: number,
) => Cell[];

/** Shows a value that is masked where it has to be: text of visitors fenced, numbers as numbers. */
export function showValue(spec: FieldSpec, value: unknown, textLimit: number): Cell {
  if (value === null || value === undefined || value === '') return null;
  const text = cleanText(String(value));
  if (isNumeric(spec) && numberForm.test(text)) return asNumber(text);
  const cut = cutText(text, textLimit);
  // Ids of clicks and visits pass through the visitor's browser: with letters in them they can say anything.
  const isForeign = spec.visitorText || (spec.isId && !/^[\d.-]*$/.test(text) && !ownIds.has(spec.name));
  return isForeign && !spec.personal ? fence(cut) : cut;
}

/** Shows fields of a record. */
export const showRecord = (call: MaskedCall, specs: readonly FieldSpec[], textLimit: number): Cell[] =>
  specs.map((spec) => showValue(spec, Reflect.get(call, spec.name), textLimit));

/** Ids that the server of the API makes; others pass through a browser. */
const ownIds: ReadonlySet<string> = new Set(['sid', 'acct_id']);

const numberForm = /^-?\d{1,15}(?:\.\d{1,3})?$/;

function isNumeric(spec: FieldSpec): boolean {
  return spec.type === 'decimal-string' || spec.type === 'integer-string' || spec.type === 'integer';
}

function asNumber(text: string): Cell {
  const value = Number(text);
  return Number.isSafeInteger(Math.trunc(value)) ? value : text;
}
