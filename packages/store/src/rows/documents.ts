import { type Call, fields } from '@call-attribution/core';
import { currentLayout, literalOf, slotOf } from './layouts.ts';

/** A field to print: where its value is, and its JSON key with a comma and a colon. */
interface Part {
  readonly slot: number;
  readonly key: string;
}

const part = (name: string, wire: string): Part => ({
  slot: slotOf(name),
  key: `,${JSON.stringify(wire)}:`,
});
const shared = fields.flatMap((f) => (f.v2 !== null && f.v2 === f.v3 ? [part(f.name, f.name)] : []));
const onlyIn = {
  v2: fields.flatMap((f) => (f.v2 !== null && f.v2 !== f.v3 ? [part(f.name, f.v2)] : [])),
  v3: fields.flatMap((f) => (f.v3 !== null && f.v2 !== f.v3 ? [part(f.name, f.v3)] : [])),
};
/** Fields that a v3 record does not have. */
const keptInV2 = fields.filter((f) => f.v3 === null && f.v2 !== null);
const unknownSlot = currentLayout.length;

/** The record of a version as JSON, from stored values: the shared fields, unknown fields, and those of the version. */
export function documentOf(values: readonly string[], version: 'v2' | 'v3'): string {
  let text = '';
  for (const { slot, key } of shared) text += key + literalOf(values[slot] ?? '');
  const unknown = values[unknownSlot];
  if (unknown) text += `,${unknown.slice(0, -1)}`;
  for (const { slot, key } of onlyIn[version]) text += key + literalOf(values[slot] ?? '');
  return `{${text.slice(1)}}`;
}

/** The neutral call of stored values: the v3 record, and what only v2 has. */
export function callOf(values: readonly string[]): Call {
  const call = JSON.parse(documentOf(values, 'v3')) as Record<string, unknown>;
  for (const { name } of keptInV2) call[name] = JSON.parse(literalOf(values[slotOf(name)] ?? ''));
  return call as unknown as Call;
}

/** The value in a slot if it is a string, or null. */
export function stringIn(values: readonly string[], slot: number): string | null {
  return stringOf(values[slot] ?? '');
}

/** A stored value if it is a string, or null. */
export function stringOf(stored: string): string | null {
  if (stored === '' || stored.startsWith('=')) return null;
  return stored.startsWith('"') || stored.includes('\\') ? (JSON.parse(literalOf(stored)) as string) : stored;
}
