import type { FieldSpec } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';
import type { KnownValue } from '../privacy/known.ts';
import { isRevealed, type Masks, maskingOf, type Reveal } from '../privacy/masking.ts';
import { replaceKnown, replacePersonal } from '../privacy/patterns.ts';
import { cleanText, cutText, fence } from '../text/untrusted.ts';

/** A value as an agent sees it. */
export type Cell = string | number | null;

/** Most characters of a value that are read at all: some senders are hostile, and far less than this is ever shown. */
const longestRead = 20_000;

/** Shorter values of a numeric or time field cannot hold a phone number. */
const shortestNumber = 9;

/** Ids are made of random characters, in which a short name or a zip code would be found by chance. */
const isTelling = ({ kind, value }: KnownValue): boolean =>
  kind === 'phone' || kind === 'ip' || (kind !== 'zip' && value.length >= 5);

/** Is the value an id as ids are, which often looks like a phone number? Digits in groups are not. */
const isCode = (spec: FieldSpec, text: string): boolean =>
  spec.isId && idForm.test(text) && !/^\d+(?:[.:_-]\d+)+$/.test(text);

/** Strings in the groups of a table are cut to this length. */
export const keyTextLimit = 80;

/** How records are shown. */
export interface ViewOptions {
  readonly reveal: ReadonlySet<Reveal>;
  readonly masks: Masks;
}

/** Shows the fields of one record: personal data masked, visitor text cleaned and fenced, numbers as numbers. */
export type RecordView = (
  call: Readonly<Record<string, unknown>>,
  specs: readonly FieldSpec[],
  textLimit: number,
) => Cell[];

/** Makes the view. `all` is the whole field table: personal values are masked in other fields even when their own field is not shown. */
export function createView(all: readonly FieldSpec[], { reveal, masks }: ViewOptions): RecordView {
  const personal = all.filter((spec) => spec.personal);

  const knownValues = (call: Readonly<Record<string, unknown>>): KnownValue[] => {
    const known: KnownValue[] = [];
    for (const spec of personal) {
      const { revealedBy, kind } = maskingOf(spec);
      const value = call[spec.name];
      if (value !== null && value !== undefined && value !== '' && !isRevealed(reveal, revealedBy))
        known.push({ kind, value: String(value) });
    }
    const { first_name: first, last_name: last } = call;
    if (typeof first === 'string' && typeof last === 'string' && !isRevealed(reveal, 'name')) {
      known.push({ kind: 'name', value: `${first}${last}` }, { kind: 'name', value: `${last}${first}` });
    }
    return known;
  };

  return (call, specs, textLimit) => {
    let known: KnownValue[] | undefined;
    return specs.map((spec) => {
      const value = call[spec.name];
      if (value === null || value === undefined || value === '') return null;
      // A server may send a number where the table says string; that changes nothing about what may be shown.
      const sent = String(value).slice(0, longestRead);
      if (spec.personal) {
        const { revealedBy, kind } = maskingOf(spec);
        return isRevealed(reveal, revealedBy)
          ? cutText(cleanText(sent), textLimit)
          : masks.ofField(kind, sent);
      }
      const text = cleanText(sent);
      if (spec.values?.some((value) => value === text)) return isNumeric(spec) ? asNumber(text) : text;
      const hasForm = forms[spec.type]?.(text) === true;
      if (hasForm && text.length < shortestNumber) return isNumeric(spec) ? asNumber(text) : text;
      // The id of the record and the account's own number are needed as they are.
      if ((spec.name === 'sid' || spec.name === 'dnis') && idForm.test(text)) return text;
      known ??= knownValues(call);
      const safe = isRevealed(reveal, 'text')
        ? text
        : isCode(spec, text) || hasForm
          ? replaceKnown(text, known.filter(isTelling), masks.ofText)
          : replacePersonal(text, known, masks.ofText);
      if (hasForm && safe === text) return isNumeric(spec) ? asNumber(text) : text;
      const cut = cutText(safe, textLimit);
      // Ids of clicks and visits pass through the visitor's browser: with letters in them they can say anything.
      const isForeign = spec.visitorText || (spec.isId && !/^[\d.-]*$/.test(text) && !ownIds.has(spec.name));
      return isForeign ? fence(cut) : cut;
    });
  };
}

const isDateTime = (text: string): boolean => !Number.isNaN(parseNaive(text));

/** Tells whether a value has the form of its type. */
const forms: Readonly<Partial<Record<FieldSpec['type'], (text: string) => boolean>>> = {
  integer: (text) => /^-?\d{1,15}$/.test(text),
  'integer-string': (text) => /^-?\d{1,15}$/.test(text),
  'decimal-string': (text) => /^-?\d{1,12}(?:\.\d{1,3})?$/.test(text),
  datetime: isDateTime,
  'datetime-tenths': isDateTime,
};

/** Ids that the server of the API makes; others pass through a browser. */
const ownIds: ReadonlySet<string> = new Set(['sid', 'acct_id']);

/** What ids are made of. */
const idForm = /^[A-Za-z0-9_.:-]{1,200}$/;

function isNumeric(spec: FieldSpec): boolean {
  return spec.type === 'decimal-string' || spec.type === 'integer-string' || spec.type === 'integer';
}

function asNumber(text: string): Cell {
  const value = Number(text);
  return Number.isSafeInteger(Math.trunc(value)) ? value : text;
}
