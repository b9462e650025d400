import { fields } from '@call-attribution/core/fields';
import { formatValue } from '@call-attribution/questions/chart';
import { el } from './dom.ts';

/** What is shown where a call has no value. */
export const noValue = formatValue({ name: '', kind: 'group', unit: 'value' }, null);

/** Fields by the part of a call they are about, in the order of the field table. */
export const fieldGroups = ((): ReadonlyMap<string, readonly string[]> => {
  const groups = new Map<string, string[]>();
  for (const { name, group, v3 } of fields) {
    if (v3 !== null) groups.set(group, [...(groups.get(group) ?? []), name]);
  }
  return groups;
})();

// Control characters, and those that turn the direction of text around or join it invisibly.
const invisible = /([\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff])/u;

/**
 * Text that somebody else wrote: characters that cannot be seen are shown as marks, and its
 * direction stays its own.
 */
export function foreign(text: string): HTMLElement {
  const mark = (character: string) => {
    const code = codeOf(character);
    return el('span', { class: 'mark-char', title: `Invisible character ${code}` }, code);
  };
  // What is between the parts of a split is at odd places.
  return el(
    'bdi',
    {},
    ...text.split(invisible).map((part, i) => (i % 2 === 1 ? mark(part) : part)),
  );
}

/** The same as one string, for places that take no elements. */
export function foreignText(text: string): string {
  return text
    .split(invisible)
    .map((part, i) => (i % 2 === 1 ? `‹${codeOf(part)}›` : part))
    .join('');
}

const codeOf = (character: string): string =>
  `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
