import type { Call, FieldSpec } from '@call-attribution/core';
import type { Pseudonymize } from '@call-attribution/core/privacy';
import { parseNaive } from '@call-attribution/core/time';
import {
  canonical,
  isRevealed,
  type KnownValue,
  maskingOf,
  type Reveal,
  scrubOwnPhones,
  scrubText,
} from '../privacy/masking.ts';
import { cleanText, cutText, fence } from '../text/untrusted.ts';

/** A value as an agent sees it. */
export type Cell = string | number | null;

/** Most characters of a value that are read at all: some senders are hostile, and far less than this is ever shown. */
const longestRead = 20_000;

/** How records are shown. */
export interface ViewOptions {
  readonly reveal: ReadonlySet<Reveal>;
  readonly pseudonymize: Pseudonymize;
}

/** Shows the fields of one record: personal data masked, visitor text cleaned and fenced, numbers as numbers. */
export type RecordView = (call: Call, specs: readonly FieldSpec[], textLimit: number) => Cell[];

/** Makes the view. `all` is the whole field table: personal values are masked in other fields even when their own field is not shown. */
export function createView(all: readonly FieldSpec[], { reveal, pseudonymize }: ViewOptions): RecordView {
  const personal = all.filter((spec) => spec.personal);
  const pseudonym = (kind: string, value: string): string => pseudonymize(kind, canonical(kind, value));

  const knownValues = (call: Call): KnownValue[] => {
    const known: KnownValue[] = [];
    for (const spec of personal) {
      const { revealedBy, kind } = maskingOf(spec);
      const value = read(call, spec.name);
      if (value !== null && value !== undefined && value !== '' && !isRevealed(reveal, revealedBy))
        known.push({ kind, value: String(value) });
    }
    const first = read(call, 'first_name');
    const last = read(call, 'last_name');
    if (typeof first === 'string' && typeof last === 'string' && !isRevealed(reveal, 'name')) {
      known.push({ kind: 'name', value: `${first}${last}` }, { kind: 'name', value: `${last}${first}` });
    }
    return known;
  };

  return (call, specs, textLimit) => {
    let known: KnownValue[] | undefined;
    return specs.map((spec) => {
      const value = read(call, spec.name);
      if (value === null || value === undefined || value === '') return null;
      // A server may send a number where the table says string; that changes nothing about what may be shown.
      const sent = String(value).slice(0, longestRead);
      if (spec.personal) {
        const { revealedBy, kind } = maskingOf(spec);
        return isRevealed(reveal, revealedBy) ? cutText(cleanText(sent), textLimit) : pseudonym(kind, sent);
      }
      const text = cleanText(sent);
      if (spec.values?.includes(text)) return isNumeric(spec) ? asNumber(text) : text;
      if (forms[spec.type]?.(text)) return isNumeric(spec) ? asNumber(text) : text;
      // The id of the record and the account's own number are needed as they are.
      if ((spec.name === 'sid' || spec.name === 'dnis') && idForm.test(text)) return text;
      known ??= knownValues(call);
      const scrub = spec.isId && idForm.test(text) ? scrubOwnPhones : scrubText;
      const safe = isRevealed(reveal, 'text') ? text : scrub(text, known, pseudonym);
      const cut = cutText(safe, textLimit);
      // A click id is copied from the visitor's URL: when it is not an id, it is the visitor's text.
      const isForeign = spec.visitorText || (spec.isId && !idForm.test(text));
      return isForeign ? fence(cut) : cut;
    });
  };
}

function read(call: Call, name: string): unknown {
  return (call as unknown as Readonly<Record<string, unknown>>)[name];
}

const isDateTime = (text: string): boolean => !Number.isNaN(parseNaive(text));

/** Tells whether a value has the form of its type. Such a value is never personal data. */
const forms: Readonly<Partial<Record<FieldSpec['type'], (text: string) => boolean>>> = {
  integer: (text) => /^-?\d{1,15}$/.test(text),
  'integer-string': (text) => /^-?\d{1,15}$/.test(text),
  'decimal-string': (text) => /^-?\d{1,12}(?:\.\d{1,3})?$/.test(text),
  datetime: isDateTime,
  'datetime-tenths': isDateTime,
};

/** Ids may look like phone numbers, so only the record's own numbers are masked in them. */
const idForm = /^[A-Za-z0-9_.:-]{1,200}$/;

function isNumeric(spec: FieldSpec): boolean {
  return spec.type === 'decimal-string' || spec.type === 'integer-string' || spec.type === 'integer';
}

function asNumber(text: string): Cell {
  const value = Number(text);
  return Number.isSafeInteger(Math.trunc(value)) ? value : text;
}
