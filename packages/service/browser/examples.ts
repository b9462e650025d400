import type { Version } from './api.ts';
import { byId, el } from './dom.ts';

const examples: readonly (readonly [label: string, text: string, only?: Version])[] = [
  ['All calls', ''],
  ['Ten minutes and more', 'talk_minutes:[10 TO *]'],
  ['Not answered', 'talk_minutes:[0 TO 0]'],
  ['One week of October', 'date_added:[2026-10-12 00:00:00 TO 2026-10-19 00:00:00}'],
  ['With call extensions', 'inc_gce:1', 'v3'],
  ['A slip of the pen', 'talk_minuts:[2 TO *'],
];

/** Shows filters to try; `take` gets the one that is pressed. */
export function showExamples(version: Version, take: (text: string) => void): void {
  const chips = examples
    .filter(([, , only]) => only === undefined || only === version)
    .map(([label, text]) => {
      const chip = el('button', { type: 'button', class: 'chip' }, label);
      chip.addEventListener('click', () => take(text));
      return chip;
    });
  byId('examples').replaceChildren(...chips);
}
