import type { Call, FieldSpec } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';
import { foldedInPlace } from './fold.ts';
import { type KnownValue, tellingOf, type Wanted, wantedOf } from './known.ts';
import { isRevealed, type Masks, maskingOf, type Reveal } from './masking.ts';
import { LookedAt, replaceIn, replaceWanted, wantedInside } from './patterns.ts';
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

/** Values in plain text, as they were looked at: the same addresses and names of campaigns come again and again. */
const looked = new Map<string, LookedAt>();
const mostLooked = 5000;
const longestKept = 2000;

function lookAt(sent: string): LookedAt {
  const known = looked.get(sent);
  if (known !== undefined) return known;
  const found = new LookedAt(cleanText(sent));
  if (sent.length > longestKept) return found;
  if (looked.size >= mostLooked) looked.clear();
  looked.set(sent, found);
  return found;
}

/** A number or a time, which hardly ever comes again. */
const lookAtNumber = (text: string): LookedAt =>
  new LookedAt(text, foldedInPlace(text, text.replace(/\D+/g, '')));

/** A value in which the personal values of its record are to be looked for. */
interface Text {
  readonly value: unknown;
  readonly looked: LookedAt;
  /** An id, a number or a time: only values that are known to be personal are replaced. */
  readonly isExact: boolean;
  readonly isCut: boolean;
}

/** What to look for in the texts of a record, and in its ids. */
interface Sought {
  readonly inText: Wanted;
  readonly inIds: Wanted;
}

const soughtOf = (inText: Wanted): Sought => ({ inText, inIds: tellingOf(inText) });

/** What stands in the place of a value, or the text in which personal values are to be looked for. */
type Read = { readonly done: unknown } | Text;

const nothing: Read = { done: null };

/** Reads the value of a field for itself, without the rest of its record. `kinds` are the personal fields, `reveal` what is shown. */
function read(spec: FieldSpec, value: unknown, kinds: Kinds, { reveal, masks }: MaskSettings): Read {
  // Assistants see one kind of nothing.
  if (value === null || value === undefined || value === '') return nothing;
  const form = forms[spec.type];
  if (form !== undefined && !spec.personal && isShortNumber(form, value)) return { done: value };
  // A server may send a number where the table says string; that changes nothing about what may be seen.
  const sent = String(value).slice(0, longestRead);
  const kind = kinds.get(spec.name);
  if (kind !== undefined) return { done: masks.ofField(kind, sent) };
  if (spec.personal || isRevealed(reveal, 'text')) return { done: value };
  if (form?.(sent) === true)
    return sent.length < shortestNumber
      ? { done: value }
      : { value, looked: lookAtNumber(sent), isExact: true, isCut: false };
  const looked = lookAt(sent);
  const { text } = looked;
  if (spec.values?.includes(text)) return { done: value };
  const hasForm = form?.(text) === true;
  if (hasForm && text.length < shortestNumber) return { done: value };
  // The id of the record and the account's own number are needed as they are.
  if (neededAsTheyAre.has(spec.name) && idForm.test(text)) return { done: value };
  return { value, looked, isExact: hasForm || isCode(spec, text), isCut: sent.length >= longestRead };
}

/** The names of the personal fields that are not revealed, and the kinds of their masks. */
type Kinds = ReadonlyMap<string, string>;

function wantedFor(call: Fields, kinds: Kinds, reveal: MaskSettings['reveal']): Wanted {
  const known: KnownValue[] = [];
  for (const [name, kind] of kinds) {
    const value = call[name];
    if (value !== null && value !== undefined && value !== '') known.push({ kind, value: String(value) });
  }
  const { first_name: first, last_name: last } = call;
  if (typeof first === 'string' && typeof last === 'string' && !isRevealed(reveal, 'name'))
    known.push({ kind: 'name', value: `${first}${last}` }, { kind: 'name', value: `${last}${first}` });
  return wantedOf(known);
}

/** Makes the mask. `all` is the whole field table: personal values are masked in every field, not only in their own. */
export function createRecordMask(all: readonly FieldSpec[], settings: MaskSettings): RecordMask {
  const { reveal, masks } = settings;
  const kinds: Kinds = new Map(
    all.flatMap((spec) => {
      const { kind, revealedBy } = maskingOf(spec);
      return spec.personal && !isRevealed(reveal, revealedBy) ? [[spec.name, kind] as const] : [];
    }),
  );

  const write = ({ value, looked, isExact, isCut }: Text, { inText, inIds }: Sought): unknown => {
    const safe = isExact
      ? replaceWanted(looked, inIds, masks.ofText)
      : replaceIn(looked, inText, masks.ofText);
    return safe === looked.text && !isCut ? value : safe;
  };

  const maskOf = (spec: FieldSpec, value: unknown, sought: () => Sought): unknown => {
    const found = read(spec, value, kinds, settings);
    return 'done' in found ? found.done : write(found, sought());
  };

  return {
    view: viewsOf(all, maskOf, (call) => soughtOf(wantedFor(call, kinds, reveal))),
    whole(call) {
      const fields = call as unknown as Fields;
      const own: Record<string, unknown> = {};
      const texts: [name: string, text: Text][] = [];
      for (const spec of all) {
        const value = fields[spec.name];
        if (value === undefined) continue;
        const found = read(spec, value, kinds, settings);
        if ('done' in found) own[spec.name] = found.done;
        else {
          // Its place among the others.
          own[spec.name] = null;
          texts.push([spec.name, found]);
        }
      }
      // Many of them are equal, and most hold nothing of what is wanted: they are searched together.
      const different = new Set(texts.map(([, { looked }]) => looked));
      const sought = soughtOf(wantedInside(different, wantedFor(fields, kinds, reveal)));
      for (const [name, text] of texts) own[name] = write(text, sought);
      return own as unknown as MaskedCall;
    },
  };
}

/** Makes views of records whose fields are masked when they are read. */
function viewsOf(
  all: readonly FieldSpec[],
  maskOf: (spec: FieldSpec, value: unknown, sought: () => Sought) => unknown,
  soughtIn: (call: Fields) => Sought,
): RecordMask['view'] {
  class View {
    readonly #call: Fields;
    #sought: Sought | undefined;

    constructor(call: Fields) {
      this.#call = call;
    }

    static read(view: View, spec: FieldSpec): unknown {
      return maskOf(spec, view.#call[spec.name], () => {
        view.#sought ??= soughtIn(view.#call);
        return view.#sought;
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
