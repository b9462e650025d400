import type { Call, FieldSpec } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';
import type { KnownValue } from './known.ts';
import { isRevealed, type Masks, maskingOf, type Reveal } from './masking.ts';
import { replaceKnown, replacePersonal } from './patterns.ts';
import { cleanText } from './untrusted.ts';

// The one place where a record is masked. Everything else, the engines of questions included, gets records that went through here.

declare const masked: unique symbol;

/** A record without personal data: masks in its place. */
export interface MaskedCall extends Call {
  readonly [masked]: true;
}

/** How records are masked. */
export interface MaskSettings {
  readonly reveal: ReadonlySet<Reveal>;
  readonly masks: Masks;
}

/** Masks records. */
export interface RecordMask {
  /** The record with each field masked when it is read: a question reads few of them. */
  view(call: Call): MaskedCall;
  /** The record with all fields masked, to be stored. Fields that the table does not know are left out. */
  whole(call: Call): MaskedCall;
}

/** Most characters of a value that are kept: some senders are hostile, and far less than this is ever shown. */
const longestRead = 20_000;

/** Shorter values of a numeric or time field cannot hold a phone number. */
const shortestNumber = 9;

/** What ids are made of. */
const idForm = /^[A-Za-z0-9_.:-]{1,200}$/;

/** Fields whose ids and numbers are the account's own. */
export const neededAsTheyAre: ReadonlySet<string> = new Set(['sid', 'dnis']);

/** Ids are made of random characters, in which a short name or a zip code would be found by chance. */
const isTelling = ({ kind, value }: KnownValue): boolean =>
  kind === 'phone' || kind === 'ip' || (kind !== 'zip' && value.length >= 5);

/** The personal values of a record, and those that can be looked for in ids. */
interface Known {
  readonly all: readonly KnownValue[];
  readonly telling: readonly KnownValue[];
}

/** Is the value an id as ids are, which often looks like a phone number? Digits in groups are not. */
const isCode = (spec: FieldSpec, text: string): boolean =>
  spec.isId && idForm.test(text) && !/^\d+(?:[.:_-]\d+)+$/.test(text);

const isDateTime = (text: string): boolean => !Number.isNaN(parseNaive(text));

/** Tells whether a value has the form of its type. */
const forms: Readonly<Partial<Record<FieldSpec['type'], (text: string) => boolean>>> = {
  integer: (text) => /^-?\d{1,15}$/.test(text),
  'integer-string': (text) => /^-?\d{1,15}$/.test(text),
  'decimal-string': (text) => /^-?\d{1,12}(?:\.\d{1,3})?$/.test(text),
  datetime: isDateTime,
  'datetime-tenths': isDateTime,
};

const isShortNumber = (hasForm: (text: string) => boolean, value: unknown): boolean => {
  const text = String(value);
  return text.length < shortestNumber && hasForm(text);
};

type Fields = Readonly<Record<string, unknown>>;

/** Makes the mask. `all` is the whole field table: personal values are masked in every field, not only in their own. */
export function createRecordMask(all: readonly FieldSpec[], { reveal, masks }: MaskSettings): RecordMask {
  const isShown = (spec: FieldSpec): boolean => isRevealed(reveal, maskingOf(spec).revealedBy);
  const personal = all.filter((spec) => spec.personal && !isShown(spec));
  const isTextShown = isRevealed(reveal, 'text');

  const knownIn = (call: Fields): Known => {
    const known: KnownValue[] = [];
    for (const spec of personal) {
      const value = call[spec.name];
      if (value !== null && value !== undefined && value !== '')
        known.push({ kind: maskingOf(spec).kind, value: String(value) });
    }
    const { first_name: first, last_name: last } = call;
    if (typeof first === 'string' && typeof last === 'string' && !isRevealed(reveal, 'name'))
      known.push({ kind: 'name', value: `${first}${last}` }, { kind: 'name', value: `${last}${first}` });
    return { all: known, telling: known.filter(isTelling) };
  };

  /** The value of a field, or what stands in its place. */
  const maskOf = (spec: FieldSpec, value: unknown, known: () => Known): unknown => {
    // Assistants see one kind of nothing.
    if (value === null || value === undefined || value === '') return null;
    const form = forms[spec.type];
    if (form !== undefined && !spec.personal && isShortNumber(form, value)) return value;
    // A server may send a number where the table says string; that changes nothing about what may be seen.
    const sent = String(value).slice(0, longestRead);
    if (spec.personal) return isShown(spec) ? value : masks.ofField(maskingOf(spec).kind, sent);
    if (isTextShown) return value;
    const text = cleanText(sent);
    if (spec.values?.includes(text)) return value;
    const hasForm = form?.(text) === true;
    if (hasForm && text.length < shortestNumber) return value;
    // The id of the record and the account's own number are needed as they are.
    if (neededAsTheyAre.has(spec.name) && idForm.test(text)) return value;
    const safe =
      isCode(spec, text) || hasForm
        ? replaceKnown(text, known().telling, masks.ofText)
        : replacePersonal(text, known().all, masks.ofText);
    return safe === text && sent.length < longestRead ? value : safe;
  };

  return {
    view: viewsOf(all, maskOf, knownIn),
    whole(call) {
      const fields = call as unknown as Fields;
      let found: Known | undefined;
      const known = (): Known => {
        found ??= knownIn(fields);
        return found;
      };
      const own: Record<string, unknown> = {};
      for (const spec of all) {
        const value = fields[spec.name];
        if (value !== undefined) own[spec.name] = value === null ? null : maskOf(spec, value, known);
      }
      return own as unknown as MaskedCall;
    },
  };
}

/** Makes views of records whose fields are masked when they are read. */
function viewsOf(
  all: readonly FieldSpec[],
  maskOf: (spec: FieldSpec, value: unknown, known: () => Known) => unknown,
  knownIn: (call: Fields) => Known,
): RecordMask['view'] {
  class View {
    readonly #call: Fields;
    #known: Known | undefined;

    constructor(call: Fields) {
      this.#call = call;
    }

    static read(view: View, spec: FieldSpec): unknown {
      return maskOf(spec, view.#call[spec.name], () => {
        view.#known ??= knownIn(view.#call);
        return view.#known;
      });
    }
  }
  for (const spec of all)
    Object.defineProperty(View.prototype, spec.name, {
      get(this: View) {
        return View.read(this, spec);
      },
    });
  return (call) => new View(call as unknown as Fields) as unknown as MaskedCall;
}
