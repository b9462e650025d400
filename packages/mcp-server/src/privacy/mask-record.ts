import type { Call, FieldSpec } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';
import { type KnownValue, tellingOf, type Wanted, wantedOf } from './known.ts';
import { isMasked, isRevealed, type Masks, maskingOf, type Reveal } from './masking.ts';
import { LookedAt, replaceIn, replaceWanted, wantedInside } from './patterns.ts';
import { remember } from './remember.ts';
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

/** Has a value of its form too few digits for a phone number, or is it a time of these centuries? */
const isHarmless = (text: string): boolean => text.length < shortestNumber || /^(?:19|20)\d\d-/.test(text);

type Fields = Readonly<Record<string, unknown>>;

/** Values in plain text, as they were looked at. */
const lookAgain = remember(3000, (sent: string) => new LookedAt(cleanText(sent)));
const longestKept = 2000;

const lookAt = (sent: string): LookedAt =>
  sent.length > longestKept ? new LookedAt(cleanText(sent)) : lookAgain(sent);

/** A value in which the personal values of its record are to be looked for. */
class Text {
  readonly name: string;
  readonly value: unknown;
  readonly looked: LookedAt;
  /** An id, a number or a time: only values that are known to be personal are replaced. */
  readonly isExact: boolean;

  constructor(name: string, value: unknown, looked: LookedAt, isExact: boolean) {
    this.name = name;
    this.value = value;
    this.looked = looked;
    this.isExact = isExact;
  }
}

/** What to look for in the texts of a record, and in its ids. */
interface Sought {
  readonly inText: Wanted;
  readonly inIds: Wanted;
}

const soughtOf = (inText: Wanted): Sought => ({ inText, inIds: tellingOf(inText) });

/** Reads a value for itself, without the rest of its record: what stands in its place, or a `Text`. */
type Read = (value: unknown) => unknown;

/** Makes what reads a field. `kind` is how its values are masked, if they are. */
function readerOf(spec: FieldSpec, kind: string | undefined, { reveal, masks }: MaskSettings): Read {
  if (kind !== undefined) return (value) => masks.ofField(kind, String(value).slice(0, longestRead));
  if (spec.personal || isRevealed(reveal, 'text')) return (value) => value;
  const hasForm = forms[spec.type];
  // The id of the record and the account's own number are needed as they are.
  const isNeeded = neededAsTheyAre.has(spec.name);
  return (value) => {
    // A server may send a number where the table says string; that changes nothing about what may be seen.
    const sent = String(value).slice(0, longestRead);
    const isFormed = hasForm?.(sent) === true;
    if ((isFormed && isHarmless(sent)) || (isNeeded && idForm.test(sent))) return value;
    if (isFormed) return new Text(spec.name, value, new LookedAt(sent), true);
    const looked = lookAt(sent);
    const { text } = looked;
    if (spec.values?.includes(text) || (isNeeded && idForm.test(text))) return value;
    const isClean = text === sent;
    const becomesFormed = !isClean && hasForm?.(text) === true;
    if (becomesFormed && isHarmless(text)) return value;
    return new Text(spec.name, value, looked, becomesFormed || isCode(spec, text));
  };
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
    all.filter((spec) => isMasked(spec, reveal)).map((spec) => [spec.name, maskingOf(spec).kind] as const),
  );
  const readers = all.map((spec) => [spec.name, readerOf(spec, kinds.get(spec.name), settings)] as const);
  const nothing = Object.fromEntries(all.map(({ name }): [string, unknown] => [name, null]));

  const write = ({ value, looked, isExact }: Text, { inText, inIds }: Sought): unknown => {
    const safe = isExact
      ? replaceWanted(looked, inIds, masks.ofText)
      : replaceIn(looked, inText, masks.ofText);
    return safe === looked.text && String(value).length < longestRead ? value : safe;
  };

  return {
    view: viewsOf(readers, write, (call) => soughtOf(wantedFor(call, kinds, reveal))),
    whole(call) {
      const fields = call as unknown as Fields;
      const own = { ...nothing };
      const texts: Text[] = [];
      for (const [name, read] of readers) {
        const value = fields[name];
        // Assistants see one kind of nothing.
        if (value === null || value === '') continue;
        if (value === undefined) delete own[name];
        else {
          const found = read(value);
          if (found instanceof Text) texts.push(found);
          else own[name] = found;
        }
      }
      // Many of them are equal, and most hold nothing of what is wanted: they are searched together.
      const different = new Set(texts.map(({ looked }) => looked));
      const sought = soughtOf(wantedInside(different, wantedFor(fields, kinds, reveal)));
      for (const text of texts) own[text.name] = write(text, sought);
      return own as unknown as MaskedCall;
    },
  };
}

/** Makes views of records whose fields are masked when they are read. */
function viewsOf(
  readers: readonly (readonly [name: string, read: Read])[],
  write: (text: Text, sought: Sought) => unknown,
  soughtIn: (call: Fields) => Sought,
): RecordMask['view'] {
  class View {
    readonly #call: Fields;
    #sought: Sought | undefined;

    constructor(call: Fields) {
      this.#call = call;
    }

    static read(view: View, name: string, read: Read): unknown {
      const value = view.#call[name];
      if (value === null || value === undefined || value === '') return null;
      const found = read(value);
      if (!(found instanceof Text)) return found;
      view.#sought ??= soughtIn(view.#call);
      return write(found, view.#sought);
    }
  }
  for (const [name, read] of readers)
    Object.defineProperty(View.prototype, name, {
      get(this: View) {
        return View.read(this, name, read);
      },
    });
  return (call) => new View(call as unknown as Fields) as unknown as MaskedCall;
}
