import type { FieldSpec } from '@call-attribution/core';
import { isRevealed, maskingOf, type Reveal } from '../privacy/classes.ts';
import { fenceNote } from '../untrusted/fence.ts';
import type { Table } from './table.ts';
import { minutesNote, zoneNote } from './words.ts';

/** What the notes depend on beside the fields. */
export interface NoteContext {
  readonly timeZone?: string;
  readonly reveal: ReadonlySet<Reveal>;
}

/** What an agent has to know about the fields it sees: zone, units, masks and fences, each only where it applies. */
export function fieldNotes(specs: readonly FieldSpec[], context: NoteContext): string[] {
  const notes: string[] = [];
  if (specs.some((spec) => spec.type.startsWith('datetime'))) notes.push(zoneNote(context.timeZone));
  if (specs.some((spec) => spec.type === 'decimal-string')) notes.push(minutesNote);
  const masked = specs.filter(
    (spec) => spec.personal && !isRevealed(context.reveal, maskingOf(spec.name).revealedBy),
  );
  if (masked.length > 0) {
    notes.push('phone-… and the like mask personal data; the same mask is the same person.');
  }
  if (specs.some((spec) => spec.visitorText)) notes.push(fenceNote);
  return notes;
}

/** The notes of a table: those of the columns it shows, and which it does not show. */
export function tableNotes(table: Table, specs: readonly FieldSpec[], context: NoteContext): string[] {
  const notes = fieldNotes(
    specs.filter((spec) => table.columns.includes(spec.name)),
    context,
  );
  if (table.leftOut.length > 0)
    notes.push(`Left out for size: ${table.leftOut.join(', ')}. Ask for them by fields.`);
  if (table.emptyColumns.length > 0) notes.push(`Null everywhere: ${table.emptyColumns.join(', ')}.`);
  return notes;
}
